// SPDX-License-Identifier: BSD-3-Clause
/// What the kernel enforces on the processes of a node together, and how often it had to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/units.hpp"

namespace sluice::budget {

/// The limit of the control groups of this process, or of the machine, that leaves the least room. Limits of this
/// process alone, such as RLIMIT_DATA, are none of the node. k_no_memory_limit if there is none.
Bytes find_node_limit(std::string const& root = "");

/// How many processes of this process's control group the kernel has killed for lack of memory; outside a group, of the
/// machine.
class MemoryKills {
  public:
    /// Counts from now on.
    explicit MemoryKills(std::string const& root = "");

    /// Nothing if the kernel does not tell. Opens a file; does not allocate.
    std::optional<std::uint64_t> count() const noexcept;

  private:
    std::optional<std::uint64_t> all() const noexcept;

    std::string file_;
    std::uint64_t before_ = 0;
};

}  // namespace sluice::budget
