// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/disk_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/units.hpp"
#include "sluice/error.hpp"

namespace sluice::kernel {

namespace {

// Cached writes that the kernel may have under way before their pages are dropped from the cache.
constexpr std::size_t k_left_to_kernel = 8;

// In nanoseconds; kept short because a message may arrive meanwhile.
constexpr long k_moment = 50'000;

std::string text_of(int error) {
    return std::generic_category().message(error);
}

/// Opens a file and unlinks it at once; returns -1 and sets errno if that fails.
int unnamed_file(std::string const& folder, int flags) {
    int const file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return file;
    std::string name = folder + "/sluice-XXXXXX";
    int const named = mkostemp(name.data(), O_CLOEXEC | flags);
    if (named >= 0) unlink(name.c_str());
    return named;
}

}  // namespace

DiskFile::DiskFile(std::string const& folder, Bytes size, Way best) : size_(size), way_(best) {
    open_in(folder);
    try {
        reserve(folder);
    } catch (...) {
        close(file_);
        throw;
    }
#ifdef SLUICE_SIMULATED
    way_ = std::max(way_, Way::direct);  // the simulator's clock does not know of asynchronous operations
#endif
    if (way_ == Way::asynchronous && syscall(SYS_io_setup, k_depth, &kernel_) != 0) way_ = Way::direct;
    for (std::size_t slot = k_depth; slot > 0; --slot)
        free_slots_.push_back(slot - 1);
}

DiskFile::~DiskFile() {
    if (kernel_ != 0) {
        while (in_kernel_ > 0)
            collect(Wait::until_one_ends);
        syscall(SYS_io_destroy, kernel_);
    }
    close(file_);
}

void DiskFile::open_in(std::string const& folder) {
    if (way_ != Way::cached) file_ = unnamed_file(folder, O_DIRECT);
    if (file_ < 0 && (way_ == Way::cached || errno == EINVAL)) {
        way_ = Way::cached;
        file_ = unnamed_file(folder, 0);
    }
    if (file_ < 0)
        throw Error(ErrorCode::unsupported,
                    "no file can be made in '" + folder + "': " + text_of(errno) + " (setting paged_folder)");
    struct statfs where {};
    if (fstatfs(file_, &where) == 0) on_disk_ = where.f_type != TMPFS_MAGIC && where.f_type != RAMFS_MAGIC;
}

void DiskFile::reserve(std::string const& folder) {
    if (size_.count == 0) return;
    rlimit most{};
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 &&
        most.rlim_cur < size_.count)  // a write beyond this limit would end the process by a signal
        throw Error(ErrorCode::out_of_memory, "a file of " + base::format_bytes(size_) +
                                                  " exceeds what this process may write, " +
                                                  base::format_bytes(Bytes{most.rlim_cur}) + " (RLIMIT_FSIZE)");
    int error = EINTR;
    while (error == EINTR)
        error = posix_fallocate(file_, 0, static_cast<off_t>(size_.count));
    if (error == 0) return;
    struct statfs where {};
    Bytes const free{fstatfs(file_, &where) == 0 ? where.f_bavail * static_cast<std::uint64_t>(where.f_bsize) : 0};
    throw Error(ErrorCode::out_of_memory, "a file of " + base::format_bytes(size_) + " cannot be made in '" + folder +
                                              "', where " + base::format_bytes(free) + " are free: " + text_of(error) +
                                              " (setting paged_folder)");
}

void DiskFile::read(std::uint64_t at, std::span<std::byte> into, Done done) {
    start({false, at, into, std::move(done)});
}

void DiskFile::write(std::uint64_t at, std::span<std::byte> from, Done done) {
    start({true, at, from, std::move(done)});
}

void DiskFile::start(Operation operation) {
    auto const address = reinterpret_cast<std::uintptr_t>(operation.memory.data());
    if ((operation.at | operation.memory.size() | address) % k_sector != 0 ||
        operation.at + operation.memory.size() > size_.count)
        throw Error(ErrorCode::internal, "a file of " + std::to_string(size_.count) + " bytes is used from " +
                                             std::to_string(operation.at) + " on for " +
                                             std::to_string(operation.memory.size()) + ": not within, or no sectors");
    waiting_.push_back(std::move(operation));
    submit_waiting();
}

int DiskFile::failure_of_test() noexcept {
    if (failures_ == 0) return 0;
    if (allowed_ > 0) {
        --allowed_;
        return 0;
    }
    --failures_;
    return failure_;
}

void DiskFile::fail_after(std::uint64_t n, std::uint64_t failures, int error) noexcept {
    allowed_ = n;
    failures_ = failures;
    failure_ = error;
}

void DiskFile::submit_waiting() {
    while (!waiting_.empty() && !free_slots_.empty()) {
        Operation operation = std::move(waiting_.front());
        waiting_.pop_front();
        if (int const failure = failure_of_test(); failure != 0) {
            finished_.push_back({std::move(operation.done), failure});
            continue;
        }
        if (way_ == Way::asynchronous) {
            std::size_t const slot = free_slots_.back();
            free_slots_.pop_back();
            operations_[slot] = std::move(operation);
            if (submit(slot)) continue;
            operation = std::move(operations_[slot]);
            free_slots_.push_back(slot);
        }
        int const error = transfer(operation, 0);
        finished_.push_back({std::move(operation.done), error});
    }
}

/// Returns false if the kernel takes no further operation.
bool DiskFile::submit(std::size_t slot) {
    Operation const& operation = operations_[slot];
    iocb& block = blocks_[slot];
    block = {};
    block.aio_data = slot;
    block.aio_lio_opcode = operation.writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
    block.aio_fildes = static_cast<std::uint32_t>(file_);
    block.aio_buf = reinterpret_cast<std::uintptr_t>(operation.memory.data());
    block.aio_nbytes = operation.memory.size();
    block.aio_offset = static_cast<std::int64_t>(operation.at);
    iocb* blocks[]{&block};
    if (syscall(SYS_io_submit, kernel_, 1, blocks) != 1) return false;
    ++in_kernel_;
    return true;
}

void DiskFile::wait_a_moment() noexcept {
    if (finished_.empty()) collect(Wait::moment);
}

/// Collects the operations that have ended.
void DiskFile::collect(Wait wait) {
    if (in_kernel_ == 0) return;
    std::array<io_event, k_depth> events{};
    timespec const most{0, wait == Wait::moment ? k_moment : 0};
    long const least = wait == Wait::no ? 0 : 1;
    auto const number = syscall(SYS_io_getevents, kernel_, least, k_depth, events.data(),
                                wait == Wait::until_one_ends ? nullptr : &most);
    for (long i = 0; i < number; ++i)
        ended(events[static_cast<std::size_t>(i)].data, events[static_cast<std::size_t>(i)].res);
}

void DiskFile::ended(std::size_t slot, std::int64_t result) {
    --in_kernel_;
    free_slots_.push_back(slot);
    Operation operation = std::move(operations_[slot]);
    int error = result < 0 ? static_cast<int>(-result) : 0;
    if (error == EINVAL) {
        become_cached();
        error = transfer(operation, 0);
    } else if (error == 0 && static_cast<std::uint64_t>(result) < operation.memory.size()) {
        error = transfer(operation, static_cast<std::uint64_t>(result) / k_sector * k_sector);
    }
    finished_.push_back({std::move(operation.done), error});
}

/// Called if a file system accepts O_DIRECT but does not carry it out.
void DiskFile::become_cached() noexcept {
    way_ = Way::cached;
    fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) & ~O_DIRECT);
}

int DiskFile::transfer(Operation const& operation, std::uint64_t already) {
    while (already < operation.memory.size()) {
        std::span<std::byte> const rest = operation.memory.subspan(already);
        auto const at = static_cast<off_t>(operation.at + already);
        ssize_t const moved =
            operation.writes ? pwrite(file_, rest.data(), rest.size(), at) : pread(file_, rest.data(), rest.size(), at);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0 && errno == EINVAL && way_ != Way::cached) {
            become_cached();
            continue;
        }
        if (moved <= 0) return moved < 0 ? errno : EIO;
        already += static_cast<std::uint64_t>(moved);
    }
    if (way_ == Way::cached && on_disk_) give_cache_back(operation);
    return 0;
}

/// Drops the operation's pages from the cache. Read pages are not needed again; written ones can be dropped once the
/// disk has them, so they are waited for some writes later.
void DiskFile::give_cache_back(Operation const& operation) {
    auto const at = static_cast<off_t>(operation.at);
    auto const length = static_cast<off_t>(operation.memory.size());
    if (!operation.writes) {
        posix_fadvise(file_, at, length, POSIX_FADV_DONTNEED);
        return;
    }
    sync_file_range(file_, at, length, SYNC_FILE_RANGE_WRITE);
    written_.emplace_back(at, length);
    if (written_.size() <= k_left_to_kernel) return;
    auto const [first, bytes] = written_.front();
    written_.pop_front();
    sync_file_range(file_, static_cast<off_t>(first), static_cast<off_t>(bytes),
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(file_, static_cast<off_t>(first), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

bool DiskFile::poll() {
    if (under_way() == 0) return false;
    collect(Wait::no);
    bool moved = false;
    for (std::size_t i = finished_.size(); i > 0; --i) {  // operations started by these callbacks are handled next time
        Finished const finished = std::move(finished_.front());
        finished_.pop_front();
        finished.done(finished.error);
        moved = true;
    }
    submit_waiting();
    return moved;
}

}  // namespace sluice::kernel
