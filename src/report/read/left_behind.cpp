// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/left_behind.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include "record/node_file.hpp"
#include "report/read/fate.hpp"

namespace sluice::report {

namespace fs = std::filesystem;

namespace {

// The files that `sluice report` makes in a job's folder.
constexpr std::string_view k_reports[] = {"report.json", "trace.json", "report.html"};

std::uint64_t written_at(fs::path const& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000 : 0;
}

bool is_my_folder(fs::path const& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/// Adds the contents of one file to `remains`.
void look_at(fs::path const& path, Remains& remains) {
    record::NodeFile file(path);
    bool all_gone = file.fault().empty() && file.whole() > 0 && file.whole() == file.claimed();
    std::uint64_t sign = 0;
    for (std::uint64_t i = 0; i < file.whole(); ++i) {
        record::RankHead head;
        if (!file.read_head(i, head)) continue;
        kernel::Life const life = kernel::life_of(head.process);
        remains.alive = remains.alive || life == kernel::Life::alive;
        all_gone = all_gone && life == kernel::Life::gone;
        sign = std::max(sign, last_sign_unix_us(head));
    }
    remains.last_sign_unix_us = std::max(remains.last_sign_unix_us, sign != 0 ? sign : written_at(path));
    remains.gone = remains.gone && all_gone;
}

Remains remains_of_job(fs::path const& folder) {
    Remains remains;
    remains.path = folder;
    std::vector<fs::path> const files = record::node_files_of(folder);
    remains.gone = !files.empty();
    for (fs::path const& file : files)
        look_at(file, remains);
    if (files.empty()) remains.last_sign_unix_us = written_at(folder);
    return remains;
}

void last_first(std::vector<Remains>& list) {
    std::sort(list.begin(), list.end(), [](Remains const& a, Remains const& b) {
        return a.last_sign_unix_us != b.last_sign_unix_us ? a.last_sign_unix_us > b.last_sign_unix_us : a.path < b.path;
    });
}

bool is_old(Remains const& remains) {
    auto const limit = static_cast<std::uint64_t>(std::chrono::microseconds(k_kept_for).count());
    return remains.last_sign_unix_us + limit < now_unix_us();
}

/// Leaves the file alone if a process is about to claim a record in it.
void remove_file(fs::path const& path) {
    int const file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool const busy = file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy) unlink(path.c_str());
    if (file >= 0) close(file);
}

void remove_job(fs::path const& folder) {
    for (fs::path const& file : record::node_files_of(folder))
        remove_file(file);
    for (std::string_view const name : k_reports)
        unlink((folder / name).c_str());
    rmdir(folder.c_str());  // fails, as it should, if the folder is not empty
}

/// Removes entries of a list that begins with the newest: those beyond `most`, and with `aged` those that are too old.
template <class Remove>
void remove_beyond(std::vector<Remains> const& list, std::size_t most, bool aged, Remove const& remove) {
    std::size_t kept = 0;
    for (Remains const& remains : list) {
        if (remains.alive) continue;
        bool const old = aged && is_old(remains);
        bool const beyond = remains.gone && kept >= most;
        if (old || beyond)
            remove(remains.path);
        else if (remains.gone)
            ++kept;
    }
}

/// Returns whether a look at the records could find anything to remove. Every job asks this at its start, when its
/// memory is counted: so this brings in no more code than needed.
bool may_be_too_much(char const* folder, char const* prefix, std::size_t most, bool aged) noexcept {
    DIR* const listing = opendir(folder);
    if (listing == nullptr) return false;
    std::size_t found = 0;
    bool old = false;
    auto const limit = std::time(nullptr) - std::chrono::seconds(k_kept_for).count();
    while (dirent const* const entry = readdir(listing)) {
        if (entry->d_name[0] == '.' || std::strncmp(entry->d_name, prefix, std::strlen(prefix)) != 0) continue;
        ++found;
        struct stat status {};
        old = old || (aged && fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      status.st_mtim.tv_sec < limit);
    }
    closedir(listing);
    return found > most + 1 || old;  // one entry is the caller's
}

}  // namespace

std::vector<Remains> jobs_left_in(fs::path const& jobs) {
    std::vector<Remains> list;
    std::error_code error;
    for (fs::directory_iterator entry(jobs, error), end; !error && entry != end; entry.increment(error))
        if (is_my_folder(entry->path())) list.push_back(remains_of_job(entry->path()));
    last_first(list);
    return list;
}

void remove_old_jobs(fs::path const& jobs, fs::path const& mine) noexcept {
    try {
        if (!may_be_too_much(jobs.c_str(), "", k_jobs_kept, true) || !is_my_folder(jobs)) return;
        std::vector<Remains> list = jobs_left_in(jobs);
        std::erase_if(list, [&mine](Remains const& job) { return job.path.filename() == mine.filename(); });
        remove_beyond(list, k_jobs_kept, true, remove_job);
    } catch (...) {  // a failing disk or a lack of memory is no concern of the job that starts
    }
}

void remove_old_records(fs::path const& folder, fs::path const& mine) noexcept {
    try {
        if (!may_be_too_much(folder.c_str(), "node-", k_earlier_kept, false)) return;
        std::vector<Remains> list;
        for (fs::path const& path : record::node_files_of(folder)) {
            if (path.filename() == mine.filename()) continue;
            Remains remains;
            remains.path = path;
            remains.gone = true;
            look_at(path, remains);
            list.push_back(std::move(remains));
        }
        last_first(list);
        remove_beyond(list, k_earlier_kept, false, remove_file);
    } catch (...) {  // as above
    }
}

}  // namespace sluice::report
