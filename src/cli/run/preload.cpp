// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/preload.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kernel/launcher.hpp"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

constexpr char k_separators[] = ": ";  // of LD_PRELOAD

bool is_ours(fs::path const& library) {
    std::string const name = library.filename().string();
    return name.starts_with("libsluice-preload-") || name == "libsluice-pages.so";
}

/// Takes Sluice's libraries out of a list: a rank under Sluice may start another job under Sluice, with another MPI.
std::string without_ours(std::string const& libraries) {
    if (libraries.find("libsluice-") == std::string::npos) return libraries;
    std::string others;
    for (std::size_t at = 0; at < libraries.size();) {
        std::size_t const end = std::min(libraries.find_first_of(k_separators, at), libraries.size());
        std::string const library = libraries.substr(at, end - at);
        if (!is_ours(library)) others += (others.empty() ? "" : ":") + library;
        at = end + 1;
    }
    return others;
}

}  // namespace

std::string refusal_of_loader(fs::path const& library) {
    if (library.string().find_first_of(k_separators) != std::string::npos)
        return "the loader preloads nothing from a path with a space or colon, as " + library.string();
    if (access(library.c_str(), R_OK) != 0) return library.string() + ": " + std::strerror(errno);
    return {};
}

void preload(std::vector<fs::path> const& ours) {
    char const* const before = kernel::variable("LD_PRELOAD");
    std::string libraries = before != nullptr ? without_ours(before) : "";
    // Sluice's plugin comes after other tools, so that these see the calls as the program makes them.
    for (fs::path const& library : ours)
        if (!library.empty()) libraries += (libraries.empty() ? "" : ":") + library.string();
    if (libraries != (before != nullptr ? before : "")) setenv("LD_PRELOAD", libraries.c_str(), 1);
}

void let_sanitizer_come_later() {
    constexpr char k_word[] = "verify_asan_link_order=0";
    char const* const before = kernel::variable("ASAN_OPTIONS");
    std::string options = before != nullptr ? before : "";
    if (options.find(k_word) != std::string::npos) return;
    options += (options.empty() ? "" : ":") + std::string(k_word);
    setenv("ASAN_OPTIONS", options.c_str(), 1);
}

bool must_come_first(std::string const& library) {
    return library == "libasan.so.2" || library == "libasan.so.3" || library == "libasan.so.4";
}

}  // namespace sluice::cli
