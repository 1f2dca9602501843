// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor/finding.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>

namespace sluice::cli {

bool true_in_child(std::function<bool()> const& body) {
    pid_t const child = fork();
    if (child < 0) return false;
    if (child == 0) _exit(body() ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string first_line(std::string const& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string status_field(std::string const& name, std::string const& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name + ":")) continue;
        std::size_t const value = line.find_first_not_of(" \t", name.size() + 1);
        return value == std::string::npos ? "" : line.substr(value);
    }
    return {};
}

bool has_capability(std::string const& mask, int capability) {
    std::uint64_t bits = 0;
    std::from_chars(mask.data(), mask.data() + mask.size(), bits, 16);
    return (bits >> capability & 1) != 0;
}

}  // namespace sluice::cli
