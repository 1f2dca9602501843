// SPDX-License-Identifier: BSD-3-Clause
/// The handles of the C interface that are in use. A handle is a number, not an address, so one that was freed, was
/// never made or belongs to another kind of object is recognised without reading memory that may be gone:
///
///     | kind 6 bits | generation 29 bits | place in the table 28 bits | 1 |
///
/// The generation of a place is raised each time that its handle is freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::c {

enum class HandleKind : std::uint8_t {
    context = 1,
    options,
    report,
    plan,
    store,
    fetch_result,
    data_sink,
    paged_file,
    paged_blocks,
    budget,
    lease,
    madre,
    transpose_plan,
    rank_plan,
    alltoall_plan,
    array,
    exchange_plan,
    packed_plan,
    last = packed_plan,
};

/// Thread-safe; looking up takes no lock. Takes 24 bytes for each handle of the most that were in use at once.
class HandleTable {
  public:
    using Place = std::uint32_t;
    static constexpr Place k_no_place = ~Place{0};

    /// The table of this process. A handle names no object that could hold the table, and options and reports exist
    /// before MPI_Init and after MPI_Finalize.
    static HandleTable& of_this_process() noexcept;

    constexpr HandleTable() = default;

    /// Throws std::bad_alloc.
    Place reserve();
    void give_back(Place place) noexcept;
    /// Makes the handle of `object` in a reserved place.
    void* bind(Place place, HandleKind kind, void* object) noexcept;
    /// Returns the object. Throws Error(invalid_argument) if `handle` is none of this kind that is in use; `what` is
    /// what the function calls it, "store".
    void* object_of(void const* handle, HandleKind kind, char const* what) const;
    /// The same, and frees the handle.
    void* take(void const* handle, HandleKind kind, char const* what);

  private:
    struct Slot {
        std::atomic<std::uint64_t> handle{0};  // 0: not in use
        std::atomic<void*> object{nullptr};
        std::uint32_t generation = 0;
        Place next_free = 0;
    };
    // Chunk c has 64 << c slots, which never move, so that looking up needs no lock.
    static constexpr std::size_t k_first_chunk = 64;
    static constexpr std::size_t k_chunks = 22;

    Slot* slot_at(Place place) const noexcept;
    Slot& checked(void const* handle, HandleKind kind, char const* what) const;

    std::mutex mutex_;
    std::array<std::atomic<Slot*>, k_chunks> chunks_{};
    std::atomic<Place> made_{0};
    Place first_free_ = k_no_place;
};

}  // namespace sluice::c
