// SPDX-License-Identifier: BSD-3-Clause
/// The contract of a method that is measured: ours and everybody else's. One method is one file in this folder and one
/// line in method.cpp.
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

/// What every method of a cell is given. Outlives the method.
struct Workload {
    MPI_Comm comm;
    int rank;
    int ranks;
    Case const& map;
    Blocks blocks;
    std::span<Destination const> destinations;  ///< one for each slot
};

class Method {
  public:
    virtual ~Method() = default;
    /// Collective; the part that is timed. Blocks end in the caller's array, in their final slots.
    virtual void run() = 0;
    /// Extra bytes by the method's own count, after a run; nothing where it has no counter.
    virtual std::optional<std::uint64_t> counted_bytes() const { return std::nullopt; }
    /// Whether the last run did what it should. Not timed. Without an answer the benchmark checks the labels of the
    /// blocks.
    virtual std::optional<bool> own_check() const { return std::nullopt; }
};

/// Ratios are printed of ours to everything else. A bound does not redistribute: its memory is of no interest.
enum class Kind { ours, theirs, bound };

struct MethodEntry {
    std::string name;
    Kind kind;
    /// Why the method cannot do this workload; empty where it can. The same on every rank.
    std::string (*refuses)(Workload const&);
    std::unique_ptr<Method> (*make)(MethodEntry const&, Workload const&);
};

/// All methods of this build.
std::vector<MethodEntry> const& methods();

std::string refuses_nothing(Workload const& workload);

std::unique_ptr<Method> make_sluice(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_warm(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_lean(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_alltoallv_cold(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_copy_limit(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_zoltan(MethodEntry const& entry, Workload const& workload);
std::unique_ptr<Method> make_p4est(MethodEntry const& entry, Workload const& workload);
std::string p4est_refuses(Workload const& workload);
std::unique_ptr<Method> make_petsc(MethodEntry const& entry, Workload const& workload);
std::string petsc_refuses(Workload const& workload);

}  // namespace sluice::bench
