// SPDX-License-Identifier: BSD-3-Clause
/// Which ranks of the job are on this node. Their messages go through shared memory, which this rank's own processor
/// copies: nothing moves while the program computes, so nothing can be hidden.
#pragma once

#include <cstdint>
#include <vector>

#include "record/record_file.hpp"

namespace sluice::plugin {

class NodeMates {
  public:
    explicit NodeMates(record::RecordFile const& file) : file_(file) {}

    /// True also where it is not known. `world_rank` has sent something, so it has left MPI_Init.
    bool has(int world_rank) noexcept;
    /// Whether these are all `number` ranks of the job, which have left MPI_Init. False where it is not known.
    bool are_all(int number) noexcept;

  private:
    void look() noexcept;

    record::RecordFile const& file_;
    static constexpr int k_most_looks = 16;  // a rank without a record in the file is never found
    bool knows_all_ = false;
    int looks_ = 0;
    std::vector<std::uint32_t> ranks_;  // in order
};

}  // namespace sluice::plugin
