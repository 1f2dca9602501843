// SPDX-License-Identifier: BSD-3-Clause
/// LD_PRELOAD of the program, and what else the loader and the program's sanitizer must know about Sluice's libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sluice::cli {

/// Returns why the loader would not preload the library; empty if it will.
std::string refusal_of_loader(std::filesystem::path const& library);

/// Puts `ours` behind what others have in LD_PRELOAD, in place of libraries of Sluice that are there. An empty path is
/// no library.
void preload(std::vector<std::filesystem::path> const& ours);

/// Sluice's plugin stands before the runtime of a program's address sanitizer, and so in what the program starts. That
/// runtime ends a program where it is not the first, unless ASAN_OPTIONS has this word. It must not be preloaded
/// itself: then it would look for leaks of each shell that the program starts.
void let_sanitizer_come_later();

/// Returns whether the library is a runtime of the address sanitizer that does not know that word (GCC 5 to 7).
bool must_come_first(std::string const& library);

}  // namespace sluice::cli
