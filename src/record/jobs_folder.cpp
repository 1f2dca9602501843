// SPDX-License-Identifier: BSD-3-Clause
#include "record/jobs_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sluice::record {

namespace {

constexpr int k_folder_names = 20;

/// "/tmp/sluice-1000", "/tmp/sluice-1000-2", …
std::string name_of_folder(std::string const& temporary, int number) {
    std::string const first = temporary + "/sluice-" + std::to_string(geteuid());
    return number == 1 ? first : first + "-" + std::to_string(number);
}

/// The first folder that can be used, or the reason why the first name cannot.
kernel::Folder first_of(std::string const& temporary, kernel::Folder (&open)(std::string const&)) {
    kernel::Folder first = open(name_of_folder(temporary, 1));
    for (int number = 2; !first.is_open() && number <= k_folder_names; ++number)
        if (kernel::Folder other = open(name_of_folder(temporary, number)); other.is_open()) return other;
    return first;
}

kernel::Folder find_or_make(std::string const& temporary) {
    kernel::Folder found = first_of(temporary, kernel::Folder::own_if_there);
    if (found.is_open()) return found;
    kernel::Folder const parent = kernel::Folder::named(temporary);
    if (!parent.is_open()) return found;
    kernel::Folder::Turn const turn(parent);
    found = first_of(temporary, kernel::Folder::own_if_there);
    return found.is_open() ? std::move(found) : first_of(temporary, kernel::Folder::own);
}

/// Programs may change their folder before the job ends.
std::string absolute(std::string const& folder) {
    std::error_code failed;
    std::filesystem::path const path = std::filesystem::absolute(folder, failed);
    return failed ? folder : path.string();
}

}  // namespace

std::vector<std::string> temporary_folders() {
    char const* const named = std::getenv("TMPDIR");
    std::vector<std::string> folders;
    if (named != nullptr && *named != '\0') folders.push_back(absolute(named));
    for (char const* const other : {"/tmp", "/dev/shm"})
        if (std::find(folders.begin(), folders.end(), other) == folders.end()) folders.emplace_back(other);
    return folders;
}

JobsFolder open_folder_of_jobs(std::string const& temporary) {
    JobsFolder jobs{find_or_make(temporary), {}};
    std::string const first = name_of_folder(temporary, 1);
    if (!jobs.folder.is_open() || jobs.folder.path() == first) return jobs;
    std::string const why = kernel::Folder::own_if_there(first).why();
    if (!why.empty()) jobs.why_other = first + ": " + why;
    return jobs;
}

std::vector<std::string> folders_of_jobs(std::string const& temporary) {
    std::vector<std::string> found;
    for (int number = 1; number <= k_folder_names; ++number)
        if (std::string const name = name_of_folder(temporary, number); kernel::Folder::own_if_there(name).is_open())
            found.push_back(name);
    if (found.empty()) found.push_back(name_of_folder(temporary, 1));
    return found;
}

}  // namespace sluice::record
