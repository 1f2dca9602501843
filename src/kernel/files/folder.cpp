// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

namespace sluice::kernel {

namespace {

constexpr mode_t k_rights_of_others = S_IRWXG | S_IRWXO;
constexpr int k_tries_for_a_turn = 100;
constexpr long k_between_tries_ns = 2'000'000;
constexpr int k_tries_for_a_name = 100;

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

std::string kind_of(mode_t mode) {
    if (S_ISLNK(mode)) return "a symbolic link";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a named pipe";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISREG(mode)) return "a file";
    return "a device";
}

std::string belongs_to(uid_t user) {
    return "it belongs to user " + std::to_string(user);
}

/// A random number as text. Not secret, only new: O_EXCL makes sure of that.
std::string random_text() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(getpid());
    }
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

}  // namespace

Folder Folder::named(std::string const& path) {
    Descriptor folder = above_standard(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::string why = folder.is_open() ? std::string() : reason_of(errno);
    return {path, std::move(folder), std::move(why)};
}

Folder Folder::own(std::string const& path) {
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return {path, Descriptor(), reason_of(errno)};
    return own_if_there(path);
}

Folder Folder::own_if_there(std::string const& path) {
    Descriptor folder = above_standard(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!folder.is_open()) {
        int const error = errno;
        bool const is_other = lstat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
        return {path, Descriptor(), is_other ? "it is " + kind_of(status.st_mode) : reason_of(error)};
    }
    if (fstat(folder.get(), &status) != 0) return {path, Descriptor(), reason_of(errno)};
    if (status.st_uid != geteuid()) return {path, Descriptor(), belongs_to(status.st_uid)};
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {path, Descriptor(), "other users may write into it"};
    return {path, std::move(folder), {}};
}

std::vector<std::string> Folder::names(std::string_view prefix) const {
    std::vector<std::string> found;
    // The listing owns what it reads from, and starts at the first name.
    Descriptor again = above_standard(openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR* const listing = again.is_open() ? fdopendir(again.get()) : nullptr;
    if (listing == nullptr) return found;
    again.release();
    while (dirent const* const entry = readdir(listing))
        if (std::string_view const name = entry->d_name; name.starts_with(prefix) && name != "." && name != "..")
            found.emplace_back(name);
    closedir(listing);
    return found;
}

Opened Folder::open_to_read(std::string const& name) const {
    // A pipe is opened without waiting for its other end, a terminal without becoming that of this process.
    Opened opened{
        above_standard(openat(folder_.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC)),
        {},
        {}};
    if (!opened.file.is_open()) {
        opened.why = errno == ELOOP ? "it is a symbolic link" : reason_of(errno);
    } else if (fstat(opened.file.get(), &opened.status) != 0) {
        opened.why = reason_of(errno);
    } else if (!S_ISREG(opened.status.st_mode)) {
        opened.why = "it is " + kind_of(opened.status.st_mode);
    }
    if (!opened.why.empty()) opened.file.reset();
    return opened;
}

Opened Folder::open_own(std::string const& name, Missing missing) const {
    int const flags =
        O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC | (missing == Missing::is_made ? O_CREAT : 0);
    Opened opened{above_standard(openat(folder_.get(), name.c_str(), flags, S_IRUSR | S_IWUSR)), {}, {}};
    struct stat const& status = opened.status;
    if (!opened.file.is_open())
        opened.why = errno == ELOOP ? "it is a symbolic link" : reason_of(errno);
    else if (fstat(opened.file.get(), &opened.status) != 0)
        opened.why = reason_of(errno);
    else if (!S_ISREG(status.st_mode))
        opened.why = "it is " + kind_of(status.st_mode);
    else if (status.st_uid != geteuid())
        opened.why = belongs_to(status.st_uid);
    else if ((status.st_mode & k_rights_of_others) != 0)
        opened.why = "other users have rights to it";
    else if (status.st_nlink > 1)
        opened.why = "it has " + std::to_string(status.st_nlink) + " names";
    if (!opened.why.empty()) opened.file.reset();
    return opened;
}

Opened Folder::make_new(std::string_view prefix, std::string& name) const {
    constexpr mode_t k_as_the_umask_says = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
    Opened opened;
    for (int i = 0; i < k_tries_for_a_name; ++i) {
        name = std::string(prefix) + random_text();
        opened.file = above_standard(openat(folder_.get(), name.c_str(),
                                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, k_as_the_umask_says));
        if (opened.file.is_open() || errno != EEXIST) break;
    }
    if (!opened.file.is_open()) opened.why = reason_of(errno);
    return opened;
}

int Folder::rename(std::string const& from, std::string const& to) const noexcept {
    return renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) == 0 ? 0 : errno;
}

int Folder::remove(std::string const& name) const noexcept {
    return unlinkat(folder_.get(), name.c_str(), 0) == 0 ? 0 : errno;
}

bool Folder::is_gone() const noexcept {
    struct stat now {};
    return is_open() && fstat(folder_.get(), &now) == 0 && now.st_nlink == 0;
}

bool Folder::is_still(std::string const& name, struct stat const& status) const noexcept {
    struct stat now {};
    return fstatat(folder_.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == status.st_dev &&
           now.st_ino == status.st_ino;
}

Folder::Turn::Turn(Folder const& folder) noexcept {
    for (int i = 0; i < k_tries_for_a_turn; ++i) {
        if (flock(folder.folder_.get(), LOCK_EX | LOCK_NB) == 0) {
            folder_ = folder.folder_.get();
            return;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) return;  // some file systems have no locks of folders
        timespec const pause{0, k_between_tries_ns};
        nanosleep(&pause, nullptr);
    }
}

Folder::Turn::~Turn() {
    if (folder_ >= 0) flock(folder_, LOCK_UN);
}

}  // namespace sluice::kernel
