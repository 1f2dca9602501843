// SPDX-License-Identifier: BSD-3-Clause
#include "node/shared/array_memory.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "kernel/process/shared_pages.hpp"

namespace sluice::node {

/// All objects of this process, for fork(). The kernel calls no destructor in a child, so what the child sees is what
/// the handlers make of it.
struct ArraysAtFork {
    std::mutex mutex;
    std::vector<ArrayMemory*> all;

    static ArraysAtFork& of_this_process() {
        static auto* const arrays = new ArraysAtFork;  // never destroyed: a fork() may come at any time
        return *arrays;
    }

    void add(ArrayMemory* memory) {
        std::lock_guard const lock(mutex);
        static bool const watched = pthread_atfork(before, in_parent, in_child) == 0;
        static_cast<void>(watched);
        all.push_back(memory);
    }
    void remove(ArrayMemory* memory) noexcept {
        std::lock_guard const lock(mutex);
        std::erase(all, memory);
    }

    /// No thread is inside any of them while the process is copied.
    static void before() {
        ArraysAtFork& arrays = of_this_process();
        arrays.mutex.lock();
        for (ArrayMemory* const memory : arrays.all)
            memory->mutex_.lock();
    }
    static void in_parent() {
        ArraysAtFork& arrays = of_this_process();
        for (ArrayMemory* const memory : arrays.all)
            memory->mutex_.unlock();
        arrays.mutex.unlock();
    }
    static void in_child() {
        ArraysAtFork& arrays = of_this_process();
        for (ArrayMemory* const memory : arrays.all)
            memory->enter_child();
        in_parent();
    }
};

namespace {

std::uint64_t page_bytes() noexcept {
    static auto const bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

/// 0 if there are no such pages.
std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
    std::uint64_t const page = page_bytes();
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 2) return 0;
    return std::max<std::uint64_t>(1, (bytes + page - 1) / page) * page;
}

bool is_same(SharedPart const& a, SharedPart const& b) noexcept {
    return a.pid == b.pid && a.inode == b.inode && a.device == b.device && a.offset == b.offset && a.bytes == b.bytes;
}

}  // namespace

std::shared_ptr<ArrayMemory> ArrayMemory::make(bool shares, std::string why) {
    std::shared_ptr<ArrayMemory> memory(new ArrayMemory(shares, std::move(why)));
    ArraysAtFork::of_this_process().add(memory.get());
    return memory;
}

ArrayMemory::ArrayMemory(bool shares, std::string why) : shares_(shares), why_(std::move(why)) {}

ArrayMemory::~ArrayMemory() {
    ArraysAtFork::of_this_process().remove(this);
    while (!of_peers_.empty())
        unmap(of_peers_.begin());
}

void* ArrayMemory::allocate(std::uint64_t bytes) {
    std::lock_guard const lock(mutex_);
    if (void* const shared = add_shared(bytes)) return shared;
    void* const own = add_private(bytes);
    has_to_tell_ = !has_told_;
    return own;
}

void* ArrayMemory::allocate_shared(std::uint64_t bytes) {
    std::lock_guard const lock(mutex_);
    return add_shared(bytes);
}

void* ArrayMemory::add_shared(std::uint64_t bytes) {
    if (!shares_) return nullptr;
    if (failing_shared_ > 0) {
        --failing_shared_;
        why_ = "a test refuses it";
        return nullptr;
    }
    std::uint64_t const whole = whole_pages(bytes);
    if (whole == 0) {
        why_ = "no machine has so many bytes";
        return nullptr;
    }
    // A program that closes all descriptors closes this one, too; the next array gets another file.
    if (!file_ || !file_->is_open()) file_ = SharedFile::make(why_);
    if (!file_) return nullptr;
    SharedPart part;
    std::byte* const base = file_->add(whole, part, why_);
    if (base == nullptr) return nullptr;
    try {
        arrays_.emplace(base, Array{file_, part, whole});
    } catch (...) {
        file_->remove(base, whole);
        throw;
    }
    kernel::shared_pages().own += whole;
    return base;
}

void* ArrayMemory::add_private(std::uint64_t bytes) {
    std::uint64_t const whole = whole_pages(bytes);
    void* const base =
        whole == 0 ? MAP_FAILED : mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    try {
        arrays_.emplace(static_cast<std::byte*>(base), Array{nullptr, {}, whole});
    } catch (...) {
        munmap(base, whole);
        throw;
    }
    return base;
}

void ArrayMemory::free(void* array) noexcept {
    std::lock_guard const lock(mutex_);
    auto const found = arrays_.find(static_cast<std::byte*>(array));
    if (found == arrays_.end()) return;
    Array const& freed = found->second;
    if (freed.file) {
        freed.file->remove(static_cast<std::byte*>(array), freed.bytes);
        kernel::shared_pages().own -= freed.bytes;
    } else {
        munmap(array, freed.bytes);
    }
    arrays_.erase(found);
}

bool ArrayMemory::owns(void const* array) const noexcept {
    std::lock_guard const lock(mutex_);
    return arrays_.contains(static_cast<std::byte const*>(array));
}

std::optional<ArrayMemory::Place> ArrayMemory::find(void const* data, std::uint64_t bytes) const noexcept {
    std::lock_guard const lock(mutex_);
    auto const* const from = static_cast<std::byte const*>(data);
    auto after = arrays_.upper_bound(from);
    if (after == arrays_.begin()) return std::nullopt;
    auto const& [base, array] = *std::prev(after);
    auto const inside = static_cast<std::uint64_t>(from - base);
    if (!array.file || !shares_ || inside > array.bytes || bytes > array.bytes - inside) return std::nullopt;
    return Place{array.part, inside};
}

std::string ArrayMemory::take_reason_to_tell() {
    std::lock_guard const lock(mutex_);
    if (!has_to_tell_) return {};
    has_to_tell_ = false;
    has_told_ = true;
    return why_;
}

std::byte* ArrayMemory::of_peer(SharedPart const& part, Keeping keeping) noexcept {
    std::lock_guard const lock(mutex_);
    if (failing_peers_ > 0) {
        --failing_peers_;
        return nullptr;
    }
    auto const known = find_of_peer(part);
    if (known != of_peers_.end()) {
        of_peers_.splice(of_peers_.begin(), of_peers_, known);
        hold(*known, keeping);
        return known->base;
    }
    std::byte* const base = SharedFile::map_of_peer(part);
    if (base == nullptr) return nullptr;
    try {
        of_peers_.push_front({part, base, false});
    } catch (std::bad_alloc const&) {
        munmap(base, part.bytes);
        return nullptr;
    }
    bytes_of_peers_ += part.bytes;
    kernel::shared_pages().of_peers += part.bytes;
    hold(of_peers_.front(), keeping);
    if (of_peers_.size() - held_of_peers_ > k_most_of_peers) unmap_one_not_held();
    return base;
}

void ArrayMemory::hold(OfPeer& peer, Keeping keeping) noexcept {
    if (keeping == Keeping::until_forgotten && !std::exchange(peer.is_held, true)) ++held_of_peers_;
}

void ArrayMemory::unmap_one_not_held() noexcept {
    auto const last =
        std::find_if(of_peers_.rbegin(), of_peers_.rend(), [](OfPeer const& peer) { return !peer.is_held; });
    unmap(std::prev(last.base()));
}

void ArrayMemory::forget(SharedPart const& part) noexcept {
    std::lock_guard const lock(mutex_);
    if (auto const known = find_of_peer(part); known != of_peers_.end()) unmap(known);
}

std::list<ArrayMemory::OfPeer>::iterator ArrayMemory::find_of_peer(SharedPart const& part) noexcept {
    return std::find_if(of_peers_.begin(), of_peers_.end(),
                        [&](OfPeer const& peer) { return is_same(peer.part, part); });
}

void ArrayMemory::unmap(std::list<OfPeer>::iterator peer) noexcept {
    munmap(peer->base, peer->part.bytes);
    bytes_of_peers_ -= peer->part.bytes;
    kernel::shared_pages().of_peers -= peer->part.bytes;
    held_of_peers_ -= peer->is_held ? 1 : 0;
    of_peers_.erase(peer);
}

std::uint64_t ArrayMemory::bytes_of_peers() const noexcept {
    std::lock_guard const lock(mutex_);
    return bytes_of_peers_;
}

/// The parts of peers are not mapped in a child (MADV_DONTFORK).
void ArrayMemory::enter_child() noexcept {
    for (auto const& [base, array] : arrays_)
        if (array.file) array.file->make_private(const_cast<std::byte*>(base), array.part);
    kernel::shared_pages().of_peers -= std::exchange(bytes_of_peers_, 0);
    of_peers_.clear();
    held_of_peers_ = 0;
    shares_ = false;
    why_ = "this process is a child of fork()";
}

}  // namespace sluice::node
