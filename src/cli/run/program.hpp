// SPDX-License-Identifier: BSD-3-Clause
/// What an executable file is, as far as a preload is concerned.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sluice::cli {

enum class ProgramKind {
    dynamic,        ///< the dynamic loader starts it, and heeds a preload
    script,         ///< another program reads it
    static_binary,  ///< no dynamic loader
    foreign,        ///< of another architecture
    privileged,     ///< set-uid or set-gid for somebody else: the loader ignores a preload
    unreadable,
};

struct Program {
    ProgramKind kind = ProgramKind::unreadable;
    std::filesystem::path loader;  ///< of a dynamic one
};

Program look_at(std::filesystem::path const& file);

/// The shared libraries that the loader would load at the start, with theirs, as it says itself. Nothing of the program
/// runs. Empty where the loader cannot say.
std::vector<std::string> libraries_of(Program const& program, std::filesystem::path const& file);

}  // namespace sluice::cli
