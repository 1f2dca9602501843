// SPDX-License-Identifier: BSD-3-Clause
/// The findings of `sluice doctor`, one object for each. Each group of findings has a file in this folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sluice::cli {

enum class Health {
    ok,       ///< works
    limited,  ///< works in part
    missing,  ///< does not work
    fact,     ///< neither good nor bad
};

struct Finding {
    Health health;
    std::string what;    ///< "process_vm_readv"
    std::string value;   ///< the value found, with numbers
    std::string means;   ///< what it is used for, or what its lack means
    std::string change;  ///< how to change it, as a command if there is one; empty if nothing needs a change
};

using Findings = std::vector<Finding>;

struct Group {
    std::string name;
    Findings (*look)();
};

Findings look_at_single_copy();
Findings look_at_userfaultfd();
Findings look_at_memory_limits();
Findings look_at_locked_memory();
Findings look_at_pages();
Findings look_at_shared_memory();
Findings look_at_mpis();
Findings look_at_beds();

/// Runs `body` in a process of its own; returns its result.
bool true_in_child(std::function<bool()> const& body);

/// Returns the first line of a file; empty if the file cannot be read.
std::string first_line(std::string const& path);

/// Returns the text after "NAME:" in this process's /proc/self/status, or in another such file.
std::string status_field(std::string const& name, std::string const& path = "/proc/self/status");

/// True if a mask as in CapEff (hexadecimal) has that capability.
bool has_capability(std::string const& mask, int capability);

}  // namespace sluice::cli
