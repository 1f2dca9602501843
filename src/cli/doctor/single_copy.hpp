// SPDX-License-Identifier: BSD-3-Clause
/// The part of single_copy.cpp that can be tested without such a kernel.
#pragma once

#include "cli/doctor/finding.hpp"

namespace sluice::cli {

/// `value` is the content of /proc/sys/kernel/yama/ptrace_scope, empty if there is no such file.
Finding explain_ptrace_scope(std::string const& value);

/// `mode` is the field Seccomp of /proc/self/status.
Finding explain_seccomp(std::string const& mode);

}  // namespace sluice::cli
