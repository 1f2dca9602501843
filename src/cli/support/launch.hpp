// SPDX-License-Identifier: BSD-3-Clause
/// Starts a program, passes its lines on as they come, and ends it if it is silent for too long or if this process is
/// ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sluice::cli {

struct Ended {
    int code = 0;            ///< exit code; 128 + signal when a signal ended it
    bool silent = false;     ///< killed by this process, because no line came for too long
    std::string complaints;  ///< the end of its output to standard error
};

/// Runs `command` (program and arguments) with `environment` ("NAME=value") added to ours. `on_line` gets each line of
/// its standard output without the line end. The processes of the program end with this process, also if this process
/// is killed. What signals do is for the program what it is for this process, and afterwards for this process what it
/// was before. Throws std::runtime_error if there is no process, pipe or memory for the program.
Ended launch(std::vector<std::string> const& command, std::vector<std::string> const& environment, int silence_seconds,
             std::function<void(std::string const&)> const& on_line);

}  // namespace sluice::cli
