// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/left_behind.hpp"

#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "kernel/files/folder.hpp"
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

/// Adds the contents of one file to `remains`. False if it belongs to another user.
bool look_at(kernel::Folder const& folder, std::string const& name, Remains& remains) {
    record::NodeFile const file(folder, name);
    if (file.fault().empty() && file.user() != geteuid()) return false;
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
    remains.last_sign_unix_us =
        std::max(remains.last_sign_unix_us, sign != 0 ? sign : written_at(folder.path_of(name)));
    remains.gone = remains.gone && all_gone;
    return true;
}

Remains remains_of_job(kernel::Folder const& folder) {
    Remains remains;
    remains.path = folder.path();
    std::vector<std::string> const files = record::node_files_in(folder);
    remains.gone = !files.empty();
    for (std::string const& file : files)
        look_at(folder, file, remains);
    if (files.empty()) remains.last_sign_unix_us = written_at(folder.path());
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

/// Leaves the file alone if a process is about to claim a record in it, or if it belongs to another user.
void remove_file(kernel::Folder const& folder, std::string const& name) {
    kernel::Opened const opened = folder.open_to_read(name);
    if (!opened || opened.status.st_uid != geteuid()) return;
    bool const busy = flock(opened.file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy) folder.remove(name);
}

void remove_job(fs::path const& path) {
    kernel::Folder const folder = kernel::Folder::own_if_there(path);
    if (!folder.is_open()) return;
    for (std::string const& file : record::node_files_in(folder))
        remove_file(folder, file);
    for (std::string_view const name : k_reports)
        folder.remove(std::string(name));
    rmdir(path.c_str());  // fails, as it should, if the folder is not empty
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
    for (std::string const& name : kernel::Folder::own_if_there(jobs).names(""))
        if (auto const job = kernel::Folder::own_if_there(jobs / name); job.is_open())
            list.push_back(remains_of_job(job));
    last_first(list);
    return list;
}

void remove_old_jobs(fs::path const& jobs, fs::path const& mine) noexcept {
    try {
        if (!may_be_too_much(jobs.c_str(), "", k_jobs_kept, true)) return;
        std::vector<Remains> list = jobs_left_in(jobs);
        std::erase_if(list, [&mine](Remains const& job) { return job.path.filename() == mine.filename(); });
        remove_beyond(list, k_jobs_kept, true, remove_job);
    } catch (...) {  // a failing disk or a lack of memory is no concern of the job that starts
    }
}

void remove_old_records(fs::path const& path, fs::path const& mine) noexcept {
    try {
        if (!may_be_too_much(path.c_str(), "node-", k_earlier_kept, false)) return;
        kernel::Folder const folder = kernel::Folder::named(path);
        std::vector<Remains> list;
        for (std::string const& name : record::node_files_in(folder)) {
            if (name == mine.filename()) continue;
            Remains remains;
            remains.path = path / name;
            remains.gone = true;
            if (look_at(folder, name, remains)) list.push_back(std::move(remains));
        }
        last_first(list);
        remove_beyond(list, k_earlier_kept, false,
                      [&folder](fs::path const& file) { remove_file(folder, file.filename()); });
    } catch (...) {  // as above
    }
}

}  // namespace sluice::report
