// SPDX-License-Identifier: BSD-3-Clause
#include "memory/buffer_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(0))
#endif

namespace sluice::memory {

namespace {

constexpr std::size_t k_chunk = std::size_t{256} << 10;  // also the alignment of all mappings
constexpr std::size_t k_largest_part = std::size_t{64} << 10;
constexpr std::size_t k_page = 4096;
constexpr std::size_t k_told_at = 4096;
constexpr std::size_t k_looked_at = 16;  // kept mappings that are tried for a fit
constexpr std::chrono::milliseconds k_idle{1000};

constexpr std::size_t class_of(std::size_t bytes) {
    if (bytes <= 128) return bytes == 0 ? 0 : (bytes - 1) / 16;
    std::size_t const quarter = std::bit_width(bytes - 1) - 3;  // log2 of a quarter of the power of two it is in
    return 8 + 4 * (quarter - 5) + ((bytes - 1) >> quarter) - 4;
}

constexpr std::size_t size_of_class(std::size_t index) {
    if (index < 8) return 16 * (index + 1);
    return (5 + (index - 8) % 4) << (5 + (index - 8) / 4);
}

constexpr std::size_t k_classes = class_of(k_largest_part) + 1;
static_assert(size_of_class(class_of(128)) == 128 && size_of_class(class_of(129)) == 160);
static_assert(size_of_class(class_of(16'384)) == 16'384 && size_of_class(class_of(16'385)) == 20'480);
static_assert(size_of_class(k_classes - 1) == k_largest_part);
constexpr std::size_t k_mapping = k_classes;  // the class of a block that has a mapping of its own

}  // namespace

struct FreePart {
    FreePart* next;
};

//     chunk   | head | part | part | part | not carved yet …   |      mapping   | head | block …            |
//
//     free room of a class  ──> chunk <──> chunk                 chunks with parts in use and free ones
//     kept                  ──> newest <──> … <──> oldest        chunks without a part in use, mappings without a user
struct alignas(64) Chunk {
    BufferPool* pool;
    Chunk* previous;
    Chunk* next;
    FreePart* free;
    std::size_t mapped;   // bytes
    std::size_t touched;  // bytes from the beginning on that have been in use
    std::size_t carved;   // bytes from the beginning on; parts are carved in order
    std::uint32_t size_class;
    std::uint32_t in_use;  // parts

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this); }
};
static_assert(sizeof(Chunk) == 64);

class ChunkList {
  public:
    Chunk* front() const noexcept { return first_; }
    Chunk* back() const noexcept { return last_; }
    void push_front(Chunk& chunk) noexcept {
        chunk.previous = nullptr;
        chunk.next = first_;
        (first_ != nullptr ? first_->previous : last_) = &chunk;
        first_ = &chunk;
    }
    void remove(Chunk& chunk) noexcept {
        (chunk.previous != nullptr ? chunk.previous->next : first_) = chunk.next;
        (chunk.next != nullptr ? chunk.next->previous : last_) = chunk.previous;
    }

  private:
    Chunk* first_ = nullptr;
    Chunk* last_ = nullptr;
};

namespace {

Chunk* chunk_of(std::byte* block) noexcept {
    return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(block) & ~(k_chunk - 1));
}

/// Maps memory at a multiple of k_chunk, so that a block finds its head. Returns null if there is none.
std::byte* map_aligned(std::size_t bytes) noexcept {
    void* const where = mmap(nullptr, bytes + k_chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (where == MAP_FAILED) return nullptr;
    auto const begin = reinterpret_cast<std::uintptr_t>(where);
    std::size_t const before = (k_chunk - begin % k_chunk) % k_chunk;
    std::byte* const first = static_cast<std::byte*>(where);
    if (before > 0) munmap(first, before);
    if (before < k_chunk) munmap(first + before + bytes, k_chunk - before);
    return first + before;
}

}  // namespace

class BufferPool {
  public:
    explicit BufferPool(Budget const& budget) : budget_(budget) {}
    ~BufferPool() { tell(); }
    BufferPool(BufferPool const&) = delete;
    BufferPool& operator=(BufferPool const&) = delete;

    std::byte* allocate(std::size_t bytes) noexcept {
        take_back_freed();
        return bytes <= k_largest_part ? part(class_of(bytes)) : mapping(bytes);
    }

    /// Any thread may call this.
    void free(std::byte* block) noexcept {
        auto* const part = reinterpret_cast<FreePart*>(block);
        std::uint32_t const size_class = chunk_of(block)->size_class;
        if (size_class != k_mapping)
            ASAN_POISON_MEMORY_REGION(block + sizeof(FreePart), size_of_class(size_class) - sizeof(FreePart));
        FreePart* first = freed_.load(std::memory_order_acquire);
        do {
            if (first == &orphaned_) {
                free_of_orphan(*part);
                return;
            }
            part->next = first;
        } while (!freed_.compare_exchange_weak(first, part, std::memory_order_acq_rel, std::memory_order_acquire));
    }

    void settle() noexcept {
        take_back_freed();
        give_back_to(budget_.spare().count);
        auto const now = std::chrono::steady_clock::now();
        if (now >= idle_at_) {
            give_back_to(kept_ - std::min(kept_, least_kept_));
            least_kept_ = kept_;
            idle_at_ = now + k_idle;
        }
        tell();
    }

    /// The owner allocates nothing any more; the pool deletes itself with its last block.
    void orphan() noexcept {
        bool is_last = false;
        {
            std::lock_guard const lock(orphan_mutex_);
            take_back(freed_.exchange(&orphaned_, std::memory_order_acq_rel));
            give_back_to(0);
            is_last = chunks_in_use_ == 0;
        }
        if (is_last) delete this;
    }

    std::size_t resident() const noexcept { return resident_; }
    std::size_t kept() const noexcept { return kept_; }

  private:
    static bool is_full(Chunk const& chunk) noexcept {
        return chunk.free == nullptr && chunk.carved + size_of_class(chunk.size_class) > k_chunk;
    }

    void take_back_freed() noexcept {
        if (freed_.load(std::memory_order_relaxed) != nullptr)
            take_back(freed_.exchange(nullptr, std::memory_order_acq_rel));
    }

    void take_back(FreePart* part) noexcept {
        while (part != nullptr) {
            FreePart* const next = part->next;
            take_back_one(*part);
            part = next;
        }
    }

    void take_back_one(FreePart& part) noexcept {
        Chunk& chunk = *chunk_of(reinterpret_cast<std::byte*>(&part));
        if (chunk.size_class != k_mapping) {
            if (is_full(chunk)) with_room_[chunk.size_class].push_front(chunk);
            part.next = chunk.free;
            chunk.free = &part;
            if (--chunk.in_use > 0) return;
            with_room_[chunk.size_class].remove(chunk);
        }
        --chunks_in_use_;
        keep(chunk);
    }

    void free_of_orphan(FreePart& part) noexcept {
        bool is_last = false;
        {
            std::lock_guard const lock(orphan_mutex_);
            take_back_one(part);
            give_back_to(0);
            is_last = chunks_in_use_ == 0;
        }
        if (is_last) delete this;
    }

    std::byte* part(std::size_t index) noexcept {
        Chunk* chunk = with_room_[index].front();
        if (chunk == nullptr && (chunk = chunk_for(index)) == nullptr) return nullptr;
        std::byte* block = nullptr;
        if (chunk->free != nullptr) {
            block = reinterpret_cast<std::byte*>(chunk->free);
            chunk->free = chunk->free->next;
        } else {
            block = chunk->bytes() + chunk->carved;
            chunk->carved += size_of_class(index);
            touch(*chunk, chunk->carved);
        }
        ASAN_UNPOISON_MEMORY_REGION(block, size_of_class(index));
        ++chunk->in_use;
        if (is_full(*chunk)) with_room_[index].remove(*chunk);
        return block;
    }

    /// Returns a kept chunk, or a new one, with all its parts free.
    Chunk* chunk_for(std::size_t index) noexcept {
        Chunk* chunk = chunks_.front();
        if (chunk != nullptr)
            take(*chunk);
        else if ((chunk = map(k_chunk)) == nullptr)
            return nullptr;
        chunk->size_class = static_cast<std::uint32_t>(index);
        chunk->free = nullptr;
        chunk->carved = sizeof(Chunk);
        with_room_[index].push_front(*chunk);
        return chunk;
    }

    std::byte* mapping(std::size_t bytes) noexcept {
        if (bytes > ~std::size_t{0} / 2) return nullptr;
        std::size_t const needed = (bytes + sizeof(Chunk) + k_page - 1) / k_page * k_page;
        Chunk* chunk = mappings_.front();
        for (std::size_t i = 0; chunk != nullptr && (chunk->mapped < needed || chunk->mapped > 2 * needed); ++i)
            chunk = i < k_looked_at ? chunk->next : nullptr;
        if (chunk != nullptr)
            take(*chunk);
        else if ((chunk = map(needed)) == nullptr)
            return nullptr;
        chunk->size_class = k_mapping;
        touch(*chunk, needed);
        return chunk->bytes() + sizeof(Chunk);
    }

    Chunk* map(std::size_t bytes) noexcept {
        if (kept_ > 0) give_back_to(budget_.spare().count);
        std::byte* where = map_aligned(bytes);
        if (where == nullptr && kept_ > 0) {
            give_back_to(0);
            where = map_aligned(bytes);
        }
        if (where == nullptr) return nullptr;
        ++chunks_in_use_;
        auto* const chunk = new (where) Chunk{};
        chunk->pool = this;
        chunk->mapped = bytes;
        return chunk;
    }

    void touch(Chunk& chunk, std::size_t up_to) noexcept {
        if (up_to <= chunk.touched) return;
        resident_ += up_to - chunk.touched;
        chunk.touched = up_to;
        if (resident_ >= told_ + k_told_at) tell();
    }

    ChunkList& list_of_kept(Chunk const& chunk) noexcept { return chunk.size_class == k_mapping ? mappings_ : chunks_; }

    void keep(Chunk& chunk) noexcept {
        list_of_kept(chunk).push_front(chunk);
        kept_ += chunk.touched;
    }

    void take(Chunk& chunk) noexcept {
        list_of_kept(chunk).remove(chunk);
        kept_ -= chunk.touched;
        least_kept_ = std::min(least_kept_, kept_);
        ++chunks_in_use_;
    }

    /// Unmaps the oldest kept memory until at most `most` bytes are kept.
    void give_back_to(std::size_t most) noexcept {
        while (kept_ > most) {
            ChunkList& list = mappings_.back() != nullptr ? mappings_ : chunks_;
            Chunk& oldest = *list.back();
            list.remove(oldest);
            kept_ -= oldest.touched;
            resident_ -= oldest.touched;
            if (resident_ < told_) tell();
            ASAN_UNPOISON_MEMORY_REGION(oldest.bytes(), oldest.mapped);
            munmap(oldest.bytes(), oldest.mapped);
        }
        least_kept_ = std::min(least_kept_, kept_);
    }

    void tell() noexcept {
        if (resident_ > told_)
            budget_.add_resident(Bytes{resident_ - told_});
        else
            budget_.remove_resident(Bytes{told_ - resident_});
        told_ = resident_;
    }

    Budget budget_;
    std::array<ChunkList, k_classes> with_room_{};
    ChunkList chunks_;               // the kept chunks
    ChunkList mappings_;             // the kept mappings
    std::size_t kept_ = 0;           // bytes, counting touched pages only
    std::size_t least_kept_ = 0;     // smallest kept_ since idle_at_ was set
    std::size_t resident_ = 0;       // bytes
    std::size_t told_ = 0;           // the part of resident_ that the budget knows of
    std::size_t chunks_in_use_ = 0;  // including mappings
    std::chrono::steady_clock::time_point idle_at_ = std::chrono::steady_clock::now() + k_idle;
    // Blocks freed by any thread that the owner has not collected yet, or a mark that there is no owner any more.
    alignas(64) std::atomic<FreePart*> freed_{nullptr};
    FreePart orphaned_{nullptr};
    std::mutex orphan_mutex_;
};

void BufferMemory::Free::operator()(std::byte* block) const noexcept {
    chunk_of(block)->pool->free(block);
}

BufferMemory::BufferMemory(Budget const& budget) : pool_(new BufferPool(budget)) {}

BufferMemory::~BufferMemory() {
    pool_->orphan();
}

BufferMemory::Block BufferMemory::allocate(std::uint64_t bytes) noexcept {
    if (failures_ > 0) [[unlikely]] {
        if (allowed_ == 0) {
            --failures_;
            return nullptr;
        }
        --allowed_;
    }
    return Block(pool_->allocate(bytes));
}

void BufferMemory::settle() noexcept {
    pool_->settle();
}

Bytes BufferMemory::resident() const noexcept {
    return Bytes{pool_->resident()};
}

Bytes BufferMemory::kept() const noexcept {
    return Bytes{pool_->kept()};
}

void BufferMemory::fail_after(std::uint64_t n, std::uint64_t failures) noexcept {
    allowed_ = n;
    failures_ = failures;
}

}  // namespace sluice::memory
