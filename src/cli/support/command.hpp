// SPDX-License-Identifier: BSD-3-Clause
/// The commands of `sluice`. Each has a folder of its own and a line in main.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line/usage_error.hpp"

namespace sluice::cli {

/// A mistake on the command line ends the command with exit code k_wrong_use.
using command_line::unknown;
using command_line::UsageError;

/// Exit codes of the command; `sluice run` becomes its program and ends with its code, or, if it cannot, with the codes
/// of shells.
inline constexpr int k_failed = 1;
inline constexpr int k_wrong_use = 2;
inline constexpr int k_program_cannot_run = 126;
inline constexpr int k_no_program = 127;

struct Command {
    std::string_view name;
    std::string_view help;
    /// Gets the arguments after the command's name; returns the exit code. Throws UsageError.
    int (*run)(std::vector<std::string> const& arguments);
};

int run_run(std::vector<std::string> const& arguments);
int run_info(std::vector<std::string> const& arguments);
int run_doctor(std::vector<std::string> const& arguments);
int run_report(std::vector<std::string> const& arguments);
int run_memory(std::vector<std::string> const& arguments);
int run_bench(std::vector<std::string> const& arguments);

}  // namespace sluice::cli
