// SPDX-License-Identifier: BSD-3-Clause
/// Starts the probe once and reads its output.
#pragma once

#include <string>

#include "cli/memory/study.hpp"

namespace sluice::cli {

/// How the ranks of a measurement, which share a machine, reach each other.
enum class Peers {
    node,     ///< as ranks of a node do: over shared memory
    network,  ///< as ranks of different nodes do: over tcp, on the loopback interface
};

struct ProbeRequest {
    std::string mpi;
    int ranks = 2;
    ProbeObjects objects;
    int ballast_mib = 0;
    Peers peers = Peers::node;
    int limit_seconds = 120;  ///< the longest time without any output
};

/// Returns true if the build of `mpi` next to this command has the probe.
bool has_memory_probe(std::string const& mpi);

/// Throws std::runtime_error, with the output of the probe and the MPI, if the probe fails or is silent for too long.
ProbeRun launch_memory_probe(ProbeRequest const& request);

/// Reads one line of the probe into `run`; other lines are skipped. Throws std::runtime_error for a row that lacks a
/// required field.
void read_probe_line(std::string const& line, ProbeRun& run);

}  // namespace sluice::cli
