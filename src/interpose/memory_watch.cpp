#include "interpose/memory_watch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace sluice::interpose {

namespace {

// What a call must add for it to be where memory grows; a few pages are nothing.
constexpr std::uint64_t k_growth = 65536;

std::uint64_t number_at(char const*& text) noexcept {
    std::uint64_t value = 0;
    while (*text == ' ')
        ++text;
    for (; *text >= '0' && *text <= '9'; ++text)
        value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    return value;
}

std::uint64_t above(std::uint64_t now, std::uint64_t before) noexcept {
    return now > before ? now - before : 0;
}

void take_back(std::atomic<std::uint64_t>& from, std::uint64_t bytes) noexcept {
    std::uint64_t const held = from.load(std::memory_order_relaxed);
    from.store(above(held, bytes), std::memory_order_relaxed);
}

std::uint32_t kib(std::uint64_t bytes) noexcept {
    return static_cast<std::uint32_t>(bytes / 1024);
}

}  // namespace

MemoryWatch::MemoryWatch()
    : statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      page_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))) {}

MemoryWatch::~MemoryWatch() {
    if (statm_ >= 0) close(statm_);
}

Resident MemoryWatch::read() const noexcept {
    std::array<char, 128> text{};
    if (statm_ < 0 || pread(statm_, text.data(), text.size() - 1, 0) <= 0) return {};
    char const* at = text.data();
    number_at(at);
    std::uint64_t const resident = number_at(at) * page_;
    std::uint64_t const shared = number_at(at) * page_;
    return {above(resident, shared), shared};
}

void MemoryWatch::start(std::uint64_t gap) noexcept {
    gap_ = gap;
    last_ = read();
}

bool MemoryWatch::enter(std::uint64_t now) noexcept {
    std::unique_lock const lock(reading_, std::try_to_lock);
    if (!lock) return false;
    Resident const is = read();
    // Since the last reading the program ran and calls that were too short for readings of their own.
    std::uint64_t const grown = above(above(is.private_bytes, last_.private_bytes), own_pages_);
    std::uint64_t const elapsed = std::max<std::uint64_t>(now - last_ticks_.load(std::memory_order_relaxed), 1);
    double const share = std::min(1.0, static_cast<double>(mpi_ticks_) / static_cast<double>(elapsed));
    mpi_private += static_cast<std::uint64_t>(static_cast<double>(grown) * share);
    // Shared pages that appear around calls are those of MPI's segments; a program's own code and files are there by
    // then.
    if (mpi_ticks_ > 0) mpi_shared += above(is.shared_bytes, last_.shared_bytes);
    shrunk_ = shrunk_ || is.all() < last_.all();
    last_ = is;
    mpi_ticks_ = own_pages_ = 0;
    last_ticks_.store(now, std::memory_order_relaxed);
    return true;
}

void MemoryWatch::read_at_exit(std::uint64_t now, report::Site& site, std::uint64_t start_us) noexcept {
    std::lock_guard const lock(reading_);
    Resident const is = read();
    std::uint64_t const own = std::min(own_pages_, above(is.private_bytes, last_.private_bytes));
    std::uint64_t const grown = above(is.private_bytes, last_.private_bytes + own);
    std::uint64_t const shared = above(is.shared_bytes, last_.shared_bytes);
    mpi_private += grown;
    mpi_shared += shared;
    // What a call gives back, MPI had.
    take_back(mpi_private, above(last_.private_bytes, is.private_bytes));
    take_back(mpi_shared, above(last_.shared_bytes, is.shared_bytes));
    site.grown_private += grown;
    site.grown_shared += shared;
    site.grown_own += own;
    shrunk_ = shrunk_ || is.all() < last_.all();
    if (grown + shared >= k_growth && site.growing_since_us == 0)
        site.growing_since_us = std::max<std::uint64_t>(start_us, 1);
    last_ = is;
    mpi_ticks_ = own_pages_ = 0;
    last_ticks_.store(now, std::memory_order_relaxed);
}

report::Sample MemoryWatch::sample(bool in_call_since_reading, std::uint64_t own_pages) const noexcept {
    Resident const is = read();
    std::uint64_t mine = mpi_private.load(std::memory_order_relaxed);
    std::uint64_t segments = mpi_shared.load(std::memory_order_relaxed);
    if (in_call_since_reading) {
        mine += above(is.private_bytes, last_.private_bytes + own_pages_ + own_pages);
        segments += above(is.shared_bytes, last_.shared_bytes);
    }
    report::Sample sample;
    sample.resident = kib(is.all());
    sample.mpi_private = std::min(kib(mine), kib(is.private_bytes));
    sample.mpi_shared = std::min(kib(segments), kib(is.shared_bytes));
    sample.sluice =
        std::min(kib(sluice.load(std::memory_order_relaxed)), sample.resident - sample.mpi_private - sample.mpi_shared);
    return sample;
}

std::uint64_t MemoryWatch::absent(void const* from, std::uint64_t bytes) noexcept {
    static auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    auto const begin = (reinterpret_cast<std::uint64_t>(from) + page - 1) / page * page;
    auto const end = (reinterpret_cast<std::uint64_t>(from) + bytes) / page * page;
    std::uint64_t missing = 0;
    std::array<unsigned char, 1024> in_memory;
    for (std::uint64_t at = begin; at < end; at += in_memory.size() * page) {
        std::uint64_t const pages = std::min<std::uint64_t>((end - at) / page, in_memory.size());
        if (mincore(reinterpret_cast<void*>(at), pages * page, in_memory.data()) != 0) return missing;
        for (std::uint64_t i = 0; i < pages; ++i)
            missing += (in_memory[i] & 1U) == 0 ? page : 0;
    }
    return missing;
}

}  // namespace sluice::interpose
