// SPDX-License-Identifier: BSD-3-Clause
/// Sizes of those of MPI's own types that have no gaps: size and extent are the same and never change. A type that a
/// program makes may come again under a handle that was freed, so MPI is asked about such types.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/fixed_table.hpp"

namespace sluice::plugin {

class DenseTypes {
  public:
    /// Size of `type`; 0 if it is not known.
    std::uint64_t size_of(MPI_Datatype type) const noexcept {
        Entry const& entry = entries_[slot_of(type)];
        return entry.type == type ? entry.size : 0;
    }
    /// Of two types with one slot the first stays, and MPI is asked about the other each time.
    void add(MPI_Datatype type, std::uint64_t size) noexcept {
        Entry& entry = entries_[slot_of(type)];
        if (entry.size == 0) entry = {type, size};
    }

  private:
    static constexpr unsigned k_bits = 8;
    struct Entry {
        MPI_Datatype type{};
        std::uint64_t size = 0;
    };
    static std::size_t slot_of(MPI_Datatype type) noexcept {
        std::uint64_t key = 0;
        std::memcpy(&key, &type, sizeof type);
        return base::slot_of_key(key, k_bits);
    }

    std::array<Entry, std::size_t{1} << k_bits> entries_{};
};

}  // namespace sluice::plugin
