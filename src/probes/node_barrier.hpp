// SPDX-License-Identifier: BSD-3-Clause
/// A barrier between processes of one machine that uses no MPI: measuring must not make the MPI communicate.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::probes {

/// Lives in a page of a file (4096 zero bytes) that the launching process has made, one file for each job.
class NodeBarrier {
  public:
    /// Maps the page. Throws std::runtime_error if that fails.
    NodeBarrier(std::string const& file, int processes);
    NodeBarrier(NodeBarrier const&) = delete;
    NodeBarrier& operator=(NodeBarrier const&) = delete;
    ~NodeBarrier();

    /// Returns when all processes have called it. Sleeps while it waits, because ranks may share a core. Throws
    /// std::runtime_error if that takes more than `seconds`.
    void wait(int seconds = 120);

  private:
    struct Page;
    Page* page_;
    std::uint32_t processes_;
};

}  // namespace sluice::probes
