// SPDX-License-Identifier: BSD-3-Clause
#include "node/node_rings.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

#include "groups/agree.hpp"
#include "sluice/error.hpp"

namespace sluice::node {

struct alignas(64) NodeRings::Doorbell {
    std::atomic<std::uint32_t> rung{0};
    std::atomic<std::uint32_t> asleep{0};
    alignas(64) std::atomic<std::uint32_t> arrived{0};  // for the barrier, which counts on rank 0's doorbell
    std::atomic<std::uint32_t> generation{0};
    alignas(64) std::array<std::byte, 64> board{};
    alignas(64) std::array<std::uint64_t, k_most_values> values{};
};

struct alignas(64) NodeRings::RingHead {
    alignas(64) std::atomic<std::uint64_t> written{0};
    alignas(64) std::atomic<std::uint64_t> read{0};
    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

namespace {

struct Header {
    std::uint32_t kind;
    std::uint32_t count;
    std::uint64_t pass;
    std::uint64_t body_bytes;
};
static_assert(sizeof(Header) == 24);

constexpr std::uint32_t k_wrap = 0xffffffffU;  // the rest of the ring is unused, go on at its start

constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
    timespec const limit{0, 1'000'000};
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// MPI implementations make shared windows in /dev/shm and die of SIGBUS if it is too small, so its room is checked
/// first.
bool shared_memory_has(std::size_t bytes) {
    struct statvfs fs {};
    if (statvfs("/dev/shm", &fs) != 0) return true;  // windows are elsewhere: MPI decides
    return fs.f_bavail * fs.f_frsize >= bytes;
}

/// Gets all pages of a range of shared memory. Without it, a store into a page for which /dev/shm has no room any more
/// ends the process by SIGBUS. Returns false if there is no room; kernels before 5.14 do not tell.
bool has_pages(std::byte* from, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const begin = reinterpret_cast<std::uintptr_t>(from) / page * page;
    auto const end = (reinterpret_cast<std::uintptr_t>(from) + bytes + page - 1) / page * page;
    return madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
#else
    return from != nullptr || bytes == 0;
#endif
}

}  // namespace

NodeRings::NodeRings(MPI_Comm node, Bytes incoming) : rank_(mpi::rank_in(node)), size_(mpi::size_of(node)) {
    auto const peers = static_cast<std::size_t>(std::max(1, size_ - 1));
    // The minimum is 1 KiB because a packet may take half a ring, and the scan's largest block must fit into one.
    ring_bytes_ = std::clamp<std::size_t>(std::bit_floor(incoming.count / peers), 1024, std::size_t{1} << 20);
    window_bytes_ = sizeof(Doorbell) + static_cast<std::size_t>(size_ - 1) * (sizeof(RingHead) + ring_bytes_) + 64;

    Error const no_room(ErrorCode::unsupported,
                        "/dev/shm has no room for " + std::to_string(window_bytes_) + " bytes for each rank");
    std::optional<Error> problem;
    if (!shared_memory_has(window_bytes_ * static_cast<std::size_t>(size_))) problem = no_room;
    groups::agree_on_no_error(node, problem);

    // Each rank's part starts on a page of its own, so it is near the rank's memory, and no part moves if another's
    // size changes.
    MPI_Info info = MPI_INFO_NULL;
    mpi::check(MPI_Info_create(&info), "MPI_Info_create");
    mpi::check(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
    void* mine = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    int const code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(window_bytes_), 1, info, node, &mine, &win);
    MPI_Info_free(&info);
    mpi::check(code, "MPI_Win_allocate_shared");
    window_ = mpi::SharedWindow(win);

    for (int r = 0; r < size_; ++r) {
        MPI_Aint bytes = 0;
        int unit = 0;
        void* base = nullptr;
        mpi::check(MPI_Win_shared_query(win, r, &bytes, &unit, &base), "MPI_Win_shared_query");
        std::size_t space = window_bytes_;
        bases_.push_back(static_cast<std::byte*>(std::align(64, window_bytes_ - 64, base, space)));
    }
    if (!has_pages(bases_[static_cast<std::size_t>(rank_)], window_bytes_ - 64)) problem = no_room;
    groups::agree_on_no_error(node, problem);
    new (bases_[static_cast<std::size_t>(rank_)]) Doorbell;
    for (int from = 0; from < size_; ++from)
        if (from != rank_) new (&ring(from, rank_)) RingHead;
    reserved_.resize(static_cast<std::size_t>(size_));
    peeked_.resize(static_cast<std::size_t>(size_));
    mpi::check(MPI_Barrier(node), "MPI_Barrier");
}

NodeRings::~NodeRings() = default;

NodeRings::RingHead& NodeRings::ring(int from, int to) noexcept {
    std::byte* const base = bases_[static_cast<std::size_t>(to)] + sizeof(Doorbell);
    auto const position = static_cast<std::size_t>(from < to ? from : from - 1);  // no rank has a ring to itself
    return *reinterpret_cast<RingHead*>(base + position * (sizeof(RingHead) + ring_bytes_));
}

std::size_t NodeRings::room(int to) noexcept {
    RingHead& head = ring(rank_, to);
    std::uint64_t const written = head.written.load(std::memory_order_relaxed);
    std::uint64_t const used = written - head.read.load(std::memory_order_acquire);
    std::size_t const free = ring_bytes_ - used;
    std::size_t const to_end = ring_bytes_ - (written & (ring_bytes_ - 1));
    // The packet goes before the end of the ring, or after a jump to its start.
    std::size_t const before = std::min(free, to_end);
    std::size_t const after = free > to_end ? free - to_end : 0;
    std::size_t const best = std::max(before, after);
    return best > k_header ? std::min(best - k_header, largest_body()) : 0;
}

std::byte* NodeRings::reserve(int to, std::size_t bytes) noexcept {
    RingHead& head = ring(rank_, to);
    std::uint64_t written = head.written.load(std::memory_order_relaxed);
    std::size_t const free = ring_bytes_ - (written - head.read.load(std::memory_order_acquire));
    std::size_t const need = k_header + rounded(bytes);
    std::size_t const to_end = ring_bytes_ - (written & (ring_bytes_ - 1));
    if (need > to_end) {
        if (free < to_end + need) return nullptr;
        if (to_end >= k_header) {
            Header const jump{k_wrap, 0, 0, 0};
            std::memcpy(head.bytes() + (written & (ring_bytes_ - 1)), &jump, sizeof jump);
        }  // else the consumer finds less than a header before the end and jumps by itself
        written += to_end;
    } else if (free < need) {
        return nullptr;
    }
    reserved_[static_cast<std::size_t>(to)].at = written;
    return head.bytes() + (written & (ring_bytes_ - 1)) + k_header;
}

void NodeRings::commit(int to, std::uint32_t kind, std::uint32_t count, std::uint64_t pass,
                       std::size_t bytes) noexcept {
    RingHead& head = ring(rank_, to);
    std::uint64_t const at = reserved_[static_cast<std::size_t>(to)].at;
    Header const header{kind, count, pass, bytes};
    std::memcpy(head.bytes() + (at & (ring_bytes_ - 1)), &header, sizeof header);
    head.written.store(at + k_header + rounded(bytes), std::memory_order_release);
    ring_doorbell(to);
}

Packet NodeRings::peek(int from) noexcept {
    RingHead& head = ring(from, rank_);
    std::uint64_t at = head.read.load(std::memory_order_relaxed);
    if (at == head.written.load(std::memory_order_acquire)) return {};
    std::size_t const to_end = ring_bytes_ - (at & (ring_bytes_ - 1));
    Header header{};
    if (to_end >= k_header) std::memcpy(&header, head.bytes() + (at & (ring_bytes_ - 1)), sizeof header);
    if (to_end < k_header || header.kind == k_wrap) {
        at += to_end;
        std::memcpy(&header, head.bytes(), sizeof header);
    }
    peeked_[static_cast<std::size_t>(from)] = at + k_header + rounded(header.body_bytes);
    return {header.kind,
            header.count,
            header.pass,
            {head.bytes() + (at & (ring_bytes_ - 1)) + k_header, header.body_bytes}};
}

void NodeRings::pop(int from) noexcept {
    RingHead& head = ring(from, rank_);
    std::uint64_t const read = peeked_[static_cast<std::size_t>(from)];
    head.read.store(read, std::memory_order_release);
    // The producer may sleep until the ring has room. It is woken once half the ring is free, not for every packet.
    if (head.written.load(std::memory_order_relaxed) - read <= ring_bytes_ / 2) ring_doorbell(from);
}

void NodeRings::ring_doorbell(int of) noexcept {
    auto& bell = *reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(of)]);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (bell.asleep.load(std::memory_order_relaxed) == 0) return;
    bell.rung.fetch_add(1, std::memory_order_release);
    futex_wake(bell.rung);
}

std::uint32_t NodeRings::prepare_to_sleep() noexcept {
    auto& bell = *reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(rank_)]);
    std::uint32_t const ticket = bell.rung.load(std::memory_order_acquire);
    bell.asleep.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return ticket;
}

void NodeRings::cancel_sleep() noexcept {
    reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(rank_)])->asleep.store(0, std::memory_order_relaxed);
}

bool NodeRings::sleep(std::uint32_t ticket) noexcept {
    auto& bell = *reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(rank_)]);
    if (bell.rung.load(std::memory_order_acquire) == ticket) futex_wait(bell.rung, ticket);
    bell.asleep.store(0, std::memory_order_relaxed);
    return bell.rung.load(std::memory_order_relaxed) != ticket;
}

void NodeRings::barrier(Look const& look) {
    auto& bell = *reinterpret_cast<Doorbell*>(bases_[0]);
    std::uint32_t const generation = bell.generation.load(std::memory_order_acquire);
    if (bell.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(size_)) {
        bell.arrived.store(0, std::memory_order_relaxed);
        bell.generation.fetch_add(1, std::memory_order_release);
        futex_wake(bell.generation);
        return;
    }
    while (bell.generation.load(std::memory_order_acquire) == generation) {
        futex_wait(bell.generation, generation);
        if (look && bell.generation.load(std::memory_order_acquire) == generation) look();
    }
}

void NodeRings::most_of_all(std::span<std::uint64_t> values, Look const& look) {
    auto const values_of = [this](int rank) -> auto& {
        return reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(rank)])->values;
    };
    std::copy(values.begin(), values.end(), values_of(rank_).begin());
    barrier(look);
    for (int rank = 0; rank < size_; ++rank)
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = std::max(values[i], values_of(rank)[i]);
    barrier();  // no rank writes again before all have read
}

std::span<std::byte, 64> NodeRings::board(int rank) noexcept {
    return reinterpret_cast<Doorbell*>(bases_[static_cast<std::size_t>(rank)])->board;
}

}  // namespace sluice::node
