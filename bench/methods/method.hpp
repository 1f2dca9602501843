// SPDX-License-Identifier: BSD-3-Clause
/// The contract of a method that is measured, Sluice's or another library's. A method has a file in this folder and one
/// line in method.cpp; a method of another library has a file in bench/peers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cases.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::bench {

/// The input of every method of a cell. It outlives the method.
struct Workload {
    MPI_Comm comm;
    int rank;
    int ranks;
    Case const& map;
    Blocks blocks;
    Blocks shared;  ///< the same in memory that the ranks of a node share; null if no method moves such arrays
    std::span<Destination const> destinations;  ///< one for each slot
};

class Method {
  public:
    virtual ~Method() = default;
    /// Collective. This part is timed. Afterwards the blocks are in the caller's array, in their final slots.
    virtual void run() = 0;
    /// Returns the extra bytes by the method's own count, after a run; nothing if the method has no counter.
    virtual std::optional<std::uint64_t> counted_bytes() const { return std::nullopt; }
    /// Returns whether the last run was right. Not timed. If the method returns nothing, the benchmark checks the
    /// labels of the blocks.
    virtual std::optional<bool> own_check() const { return std::nullopt; }
};

/// Ratios of our methods to all others are printed. A bound does not redistribute, so its memory is not shown.
enum class Kind { ours, theirs, bound };

struct MethodEntry {
    std::string name;
    Kind kind;
    /// Returns why the method cannot do this workload; empty if it can. The same on every rank.
    std::string (*refuses)(Workload const&);
    std::unique_ptr<Method> (*make)(MethodEntry const&, Workload const&);
    /// Whether it moves Workload::shared. Arrays of peers that are mapped are no memory of this rank, but the kernel
    /// counts them in VmHWM, so that figure is left out.
    bool moves_shared = false;
};

inline Blocks const& array_of(MethodEntry const& entry, Workload const& workload) {
    return entry.moves_shared ? workload.shared : workload.blocks;
}

/// Returns all methods of this program: those of each program, and its peer's.
std::vector<MethodEntry> const& methods();

/// Returns the method of another library that this program compares with; nothing in the program that everyone builds.
/// Each peer is a program of its own (bench/peers), because their headers and libraries are not made for one another.
std::optional<MethodEntry> peer_method();

std::string refuses_nothing(Workload const& workload);

std::unique_ptr<Method> make_sluice(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_sluice_shared(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_warm(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_lean(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_cold(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_copy_limit(MethodEntry const& entry, Workload const& workload);

}  // namespace sluice::bench
