// SPDX-License-Identifier: BSD-3-Clause
#include "node/shared/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::node {

namespace {

#ifndef MADV_COLLAPSE
constexpr int MADV_COLLAPSE = 25;
#endif
#ifndef MFD_NOEXEC_SEAL
constexpr unsigned MFD_NOEXEC_SEAL = 8U;  // Linux 6.3; some systems refuse files in memory without it
#endif

// A signal ends an allocation of pages without a result, so it is made in steps that are shorter than the period of any
// profiler.
constexpr std::uint64_t k_pages_at_once = 2 << 20;

constexpr std::uint64_t k_huge_page = 2 << 20;

std::string reason(char const* what) {
    return std::string(what) + ": " + std::strerror(errno);
}

int make_memory_file() noexcept {
    int const made = memfd_create("sluice arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (made >= 0 || errno != EINVAL) return made;
    return memfd_create("sluice arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

bool is_file(int file, dev_t device, ino_t inode) noexcept {
    struct stat status {};
    return fstat(file, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/// A file that grows beyond this limit ends the process by SIGXFSZ.
bool may_grow_to(std::uint64_t end) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur);
}

/// The kernel refuses no file in memory for its size: it would kill processes for the pages, others than this one among
/// them, because pages that no process maps count for none.
bool machine_has(std::uint64_t bytes) noexcept {
    kernel::KernelText room;
    auto const available = kernel::bytes_after(kernel::read_text("/proc/meminfo", room), "MemAvailable:");
    return !available || bytes <= *available;
}

/// Through the mapping, so that the pages count as this process's from the first on.
bool populate([[maybe_unused]] std::byte* from, [[maybe_unused]] std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
    return madvise(from, bytes, MADV_POPULATE_WRITE) == 0;  // Linux 5.14
#else
    errno = EINVAL;
    return false;
#endif
}

bool allocate_pages(int file, std::byte* base, std::uint64_t offset, std::uint64_t bytes) noexcept {
    for (std::uint64_t done = 0; done < bytes;) {
        std::uint64_t const step = std::min(k_pages_at_once, bytes - done);
        if (populate(base + done, step) ||
            (errno == EINVAL && fallocate(file, 0, static_cast<off_t>(offset + done), static_cast<off_t>(step)) == 0))
            done += step;
        else if (errno != EINTR && errno != EAGAIN)
            return false;
    }
    return true;
}

/// Large parts begin at a huge page, in the file and in each process.
std::uint64_t alignment_of(std::uint64_t bytes) noexcept {
    return bytes >= k_huge_page ? k_huge_page : 1;
}

/// Returns a range of this alignment that nothing is mapped to, to be replaced by a mapping.
void* free_range(std::uint64_t bytes, std::uint64_t alignment) noexcept {
    void* const all = mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* const begin = static_cast<std::byte*>(all);
    std::uint64_t const before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + bytes, alignment - before);
    return begin + before;
}

std::byte* map(int file, std::uint64_t offset, std::uint64_t bytes, int how) noexcept {
    std::uint64_t const alignment = alignment_of(bytes);
    void* const place = alignment > 1 ? free_range(bytes, alignment) : nullptr;
    void* const base = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | how | (place != nullptr ? MAP_FIXED : 0),
                            file, static_cast<off_t>(offset));
    if (base != MAP_FAILED) return static_cast<std::byte*>(base);
    if (place != nullptr) munmap(place, bytes);
    return nullptr;
}

/// Blocks of 64 bytes that are visited at random cost a walk of page tables each. Linux 6.1 makes huge pages of pages
/// that are there; without them nothing else changes.
void make_huge(std::byte* base, std::uint64_t bytes) noexcept {
    if (bytes >= k_huge_page) static_cast<void>(madvise(base, bytes, MADV_COLLAPSE));
}

}  // namespace

SharedFile::SharedFile(kernel::Descriptor file, dev_t device, ino_t inode)
    : file_(std::move(file)), device_(device), inode_(inode), owner_(getpid()) {}

/// The pages live as long as a part of them is mapped; the descriptor is not needed for that.
SharedFile::~SharedFile() {
    if (!is_open()) static_cast<void>(file_.release());
}

std::shared_ptr<SharedFile> SharedFile::make(std::string& why) {
    kernel::Descriptor file = kernel::out_of_the_way(make_memory_file());
    struct stat status {};
    if (!file.is_open() || fstat(file.get(), &status) != 0) {
        why = reason("the system gives no file in memory");
        return nullptr;
    }
    // Peers that map it must not lose pages from under them.
    static_cast<void>(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK));
    return std::shared_ptr<SharedFile>(new SharedFile(std::move(file), status.st_dev, status.st_ino));
}

bool SharedFile::is_open() const noexcept {
    return file_.is_open() && is_file(file_.get(), device_, inode_);
}

std::byte* SharedFile::add(std::uint64_t bytes, SharedPart& part, std::string& why) {
    if (!is_open()) {
        why = "the program has closed the file in memory";
        return nullptr;
    }
    if (!may_grow_to(end_ + bytes + k_huge_page)) {
        why = "the limit of file sizes (RLIMIT_FSIZE) is too low";
        return nullptr;
    }
    if (!machine_has(bytes)) {
        why = "the machine has less memory available";
        return nullptr;
    }
    std::uint64_t const alignment = alignment_of(bytes);
    std::uint64_t const offset = (end_ + alignment - 1) / alignment * alignment;
    if (ftruncate(file_.get(), static_cast<off_t>(offset + bytes)) != 0) {
        why = reason("the file in memory cannot grow");
        return nullptr;
    }
    end_ = offset + bytes;
    std::byte* const base = map(file_.get(), offset, bytes, 0);
    if (base == nullptr) {
        why = reason("shared memory cannot be mapped");
        return nullptr;
    }
    if (!allocate_pages(file_.get(), base, offset, bytes)) {
        why = reason("no room for more shared memory");
        remove(base, bytes);
        return nullptr;
    }
    make_huge(base, bytes);
    part = {owner_, file_.get(), device_, inode_, offset, bytes};
    return base;
}

void SharedFile::remove(std::byte* base, std::uint64_t bytes) const noexcept {
    // By the mapping, because the program may have closed the descriptor.
    if (getpid() == owner_) static_cast<void>(madvise(base, bytes, MADV_REMOVE));
    munmap(base, bytes);
}

void SharedFile::make_private(std::byte* base, SharedPart const& part) const noexcept {
    if (is_open())
        static_cast<void>(mmap(base, part.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_.get(),
                               static_cast<off_t>(part.offset)));
}

std::byte* SharedFile::map_of_peer(SharedPart const& part) noexcept {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", part.pid, part.file);
    kernel::Descriptor const file = kernel::above_standard(open(path.data(), O_RDWR | O_CLOEXEC));
    if (!file.is_open() || !is_file(file.get(), part.device, part.inode)) return nullptr;
    std::byte* const base = map(file.get(), part.offset, part.bytes, MAP_POPULATE);
    // A child has no use for it, and a core file has it from its owner.
    if (base != nullptr) {
        static_cast<void>(madvise(base, part.bytes, MADV_DONTFORK));
        static_cast<void>(madvise(base, part.bytes, MADV_DONTDUMP));
    }
    return base;
}

}  // namespace sluice::node
