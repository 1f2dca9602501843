// SPDX-License-Identifier: BSD-3-Clause
/// Another process of the node that takes memory and gives it back while a benchmark runs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sluice::bench {

/// The process lives as long as this object, and no longer than this process. It runs this program again, so
/// `memory_neighbour_main` must be called at the beginning of main.
class MemoryNeighbour {
  public:
    /// Throws Error(internal) if no process can be made.
    explicit MemoryNeighbour(std::uint64_t bytes);
    MemoryNeighbour(MemoryNeighbour const&) = delete;
    MemoryNeighbour& operator=(MemoryNeighbour const&) = delete;
    ~MemoryNeighbour();

    /// Tells the process to take its memory; returns at once.
    void take();
    void give_back();
    /// Returns how often the process has had all its bytes so far.
    std::uint64_t times_taken();

  private:
    void command(char letter) const;
    int commands_ = -1;
    int answers_ = -1;
    std::uint64_t taken_ = 0;
    pid_t process_ = -1;
};

/// Returns false at once in a process that is no neighbour. In a neighbour it returns true when the neighbour has to
/// end.
bool memory_neighbour_main(int argc, char** argv);

}  // namespace sluice::bench
