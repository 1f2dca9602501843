// SPDX-License-Identifier: BSD-3-Clause
/// How far receivers of this node are: each counts the receives that it completes in the head of its record, which the
/// other ranks of the node can map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "record/record_file.hpp"

namespace sluice::plugin {

class Receivers {
  public:
    explicit Receivers(record::RecordFile const& file) noexcept : file_(file) {}
    Receivers(Receivers const&) = delete;
    Receivers& operator=(Receivers const&) = delete;
    ~Receivers();

    /// Nothing for a rank of another node, or one whose record cannot be mapped.
    std::optional<std::uint64_t> completed(int world_rank) noexcept;

  private:
    struct Seen {
        int rank = -1;
        record::RankHead const* head = nullptr;  // null: there is none
    };
    record::RankHead const* look_for(int world_rank) const noexcept;
    static void forget(Seen& seen) noexcept;

    record::RecordFile const& file_;
    static constexpr std::size_t k_seen = 16;
    std::array<Seen, k_seen> seen_{};
};

}  // namespace sluice::plugin
