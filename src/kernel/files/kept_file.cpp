// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/kept_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::kernel {

void KeptFile::keep() noexcept {
    if (file_.load(std::memory_order_relaxed) >= 0) return;
    Descriptor file = out_of_the_way(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file.is_open() || fstat(file.get(), &status) != 0) return;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    file_.store(file.release(), std::memory_order_release);
}

void KeptFile::let_go() noexcept {
    int const file = file_.exchange(-1, std::memory_order_acq_rel);
    if (file >= 0 && is_ours(file)) close(file);
}

bool KeptFile::is_ours(int file) const noexcept {
    struct stat status {};
    return fstat(file, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

/// A kept file that tells nothing is that of a thread that has ended: another look may find the caller's.
std::string_view KeptFile::read(std::span<char> room) const noexcept {
    if (int file = file_.load(std::memory_order_acquire); file >= 0 && !has_left_table_of_process()) {
        if (is_ours(file)) {
            ssize_t const got = pread(file, room.data(), room.size(), 0);
            if (got > 0) return {room.data(), static_cast<std::size_t>(got)};
        } else {
            file_.compare_exchange_strong(file, -1, std::memory_order_relaxed);
        }
    }
    return read_text(path_, room);
}

std::optional<std::uint64_t> KeptFile::number() const noexcept {
    std::array<char, 32> room;
    return number_in(read(room));
}

}  // namespace sluice::kernel
