// SPDX-License-Identifier: BSD-3-Clause
/// The world ranks behind the ranks of a window, as its communicator had them when the window was made, and the memory
/// that MPI has allocated with it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "memory/leased.hpp"
#include "plugin/tables/communicators.hpp"

namespace sluice::plugin {

class Windows {
  public:
    /// `budget`: the memory of a window that is known is leased.
    explicit Windows(Budget const& budget) : known_(memory::LeasedAllocator<Entry>(budget)) {}

    void add(MPI_Win window, Known const& of_communicator) noexcept;
    /// `key`: of the handle, which MPI has overwritten.
    void remove(std::uint64_t key) noexcept;
    /// Memory that MPI has allocated for the program with it, on this rank; nothing for other windows.
    struct Allocated {
        void const* from = nullptr;
        std::uint64_t bytes = 0;
    };
    void keep_memory(std::uint64_t key, Allocated const& memory) noexcept;
    Allocated memory_of(std::uint64_t key) noexcept;
    /// World rank of `rank` in the window, or −1. Asks MPI where the ranks follow no rule: of a call that it has
    /// accepted.
    int world_rank(MPI_Win window, int rank) noexcept;

  private:
    struct Window {
        Known ranks;
        Allocated memory;
    };
    using Entry = std::pair<std::uint64_t const, Window>;

    std::mutex changing_;
    std::unordered_map<std::uint64_t, Window, std::hash<std::uint64_t>, std::equal_to<>, memory::LeasedAllocator<Entry>>
        known_;
    std::uint64_t last_key_ = 0;  // the one that was asked for last, mostly asked for again
    Known last_;
};

}  // namespace sluice::plugin
