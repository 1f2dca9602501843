// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report/program_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kernel/files/file_mark.hpp"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

/// Names in records have at most so many bytes.
constexpr std::size_t k_most_of_name = 40;

void add_folders(std::vector<fs::path>& folders, char const* variable) {
    char const* const value = std::getenv(variable);
    if (value == nullptr) return;
    std::istringstream words(value);
    for (std::string folder; std::getline(words, folder, ':');)
        folders.emplace_back(folder.empty() ? "." : folder);
}

void add_mapped(std::vector<fs::path>& files, std::uint32_t process) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::size_t const path = line.find('/');
        if (path == std::string::npos || line.find(" r-xp ") == std::string::npos) continue;
        files.emplace_back(line.substr(path));
    }
}

bool has_name(fs::path const& file, std::string_view name) {
    std::string const own = file.filename().string();
    return own == name || (name.size() == k_most_of_name && own.starts_with(name));
}

}  // namespace

ProgramFiles::ProgramFiles(std::vector<std::string> const& named, std::vector<std::uint32_t> const& processes)
    : files_(named.begin(), named.end()), folders_{"."} {
    for (std::uint32_t const process : processes)
        add_mapped(files_, process);
    for (std::string const& file : named)
        if (fs::path const folder = fs::path(file).parent_path(); !folder.empty()) folders_.push_back(folder);
    add_folders(folders_, "PATH");
    add_folders(folders_, "LD_LIBRARY_PATH");
    for (char const* const folder :
         {"/usr/local/lib", "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu",
          "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
        folders_.emplace_back(folder);
}

fs::path ProgramFiles::find(std::string_view name, std::uint64_t mark) const {
    if (mark == 0 || name.empty()) return {};
    auto const is_it = [&](fs::path const& file) { return kernel::file_mark(file.c_str()) == mark; };
    for (fs::path const& file : files_)
        if (has_name(file, name) && is_it(file)) return file;
    for (fs::path const& folder : folders_)
        if (fs::path file = folder / name; is_it(file)) return file;
    return {};
}

}  // namespace sluice::cli
