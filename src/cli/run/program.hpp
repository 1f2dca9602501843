// SPDX-License-Identifier: BSD-3-Clause
/// The kind of an executable file, as far as a preload is concerned.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sluice::cli {

enum class ProgramKind {
    dynamic,        ///< the dynamic loader starts it, and heeds a preload
    script,         ///< another program interprets it
    static_binary,  ///< has no dynamic loader
    foreign,        ///< of another architecture
    privileged,     ///< has rights that its user has not (set-uid, set-gid, capabilities): the loader ignores a preload
    unreadable,
};

struct Program {
    ProgramKind kind = ProgramKind::unreadable;
    std::filesystem::path loader;  ///< of a dynamic program
};

Program look_at(std::filesystem::path const& file);

/// Returns the shared libraries that the loader would load at the start, with their dependencies, as the loader lists
/// them. Nothing of the program runs. Empty if the loader finds a fault in the program; the program then ends with the
/// loader's message. Throws std::runtime_error if the loader cannot be asked.
std::vector<std::string> libraries_of(Program const& program, std::filesystem::path const& file);

}  // namespace sluice::cli
