// SPDX-License-Identifier: BSD-3-Clause
/// Code that stands between the program and MPI, by the files that it comes from.
///
///     binding   the MPI's own for another language: each of its functions calls one of C
///     library   calls MPI for the program, from functions of its own: PETSc, HDF5, Boost.MPI
///     glue      a module that Python calls: mpi4py, petsc4py, ctypes
///     system    the C library, which begins threads of a library and calls back its functions
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fixed_table.hpp"

namespace sluice::plugin {

/// A place of the program whose call came to MPI through a library, or a place of a program in Python. The address of
/// such an object stands for it where others are return addresses.
struct SeenThrough {
    std::uint64_t caller = 0;  ///< the program's return address; 0: a place in Python
    std::uint64_t via = 0;     ///< the library's, or the instruction of Python
};

/// Ranges are added and never change. A thread that sees one of the numbers late takes a call for the program's own.
struct WrappingCode {
    enum class Kind : std::uint8_t { none, binding, library, glue, system };
    struct Range {
        std::uint64_t from = 0, to = 0;
        Kind kind = Kind::none;
    };
    static constexpr int k_ranges = 48;
    Range ranges[k_ranges];
    std::atomic<int> count{0};
    // All of them, so that most calls are known by one comparison.
    std::atomic<std::uint64_t> lowest{0};
    std::atomic<std::uint64_t> extent{0};

    Kind kind_of(std::uint64_t address) const noexcept {
        if (address - lowest.load(std::memory_order_relaxed) >= extent.load(std::memory_order_relaxed)) [[likely]]
            return Kind::none;
        int const all = count.load(std::memory_order_acquire);
        for (int i = 0; i < all; ++i)
            if (address >= ranges[i].from && address < ranges[i].to) return ranges[i].kind;
        return Kind::none;
    }

    /// A binding's frame has the same size at every call from the same place. So the unwinder, which takes
    /// microseconds, is asked once for each return address, and afterwards the caller's address is read at that
    /// distance. The values are the distance from the frame to the word that holds the caller; 0 if it was not found.
    base::FixedTable<std::uint64_t, 9> distances;

    /// The ways on which a library was called: the program's return address, and where it lay on the stack. A way is
    /// taken again if the address lies there again. 0: the unwinder found no caller.
    struct Way {
        std::uint64_t distance = 0;
        std::uint64_t caller = 0;
    };
    static constexpr std::uint64_t k_ways = 16;  ///< that are kept for each return address in a library
    base::FixedTable<Way, 11> ways;
    base::FixedTable<SeenThrough, 9> seen_through;
};

}  // namespace sluice::plugin
