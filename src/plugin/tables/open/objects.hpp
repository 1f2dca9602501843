// SPDX-License-Identifier: BSD-3-Clause
/// The objects of MPI that the program has made and not freed, each with the place that made it. The table grows with
/// them, and its memory is leased: 16 bytes for an object, which costs the MPI some hundred.
///
///     slots   | key: kind and handle | site | below ──> earlier ones of the same handle, the last first
///
/// A handle may stand for several objects at once: MPI_Comm_group gives the handle of a group again and counts how
/// often it is to be freed. A free belongs to the last that was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "memory/leased.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Objects {
  public:
    explicit Objects(Budget const& budget)
        : slots_(memory::LeasedAllocator<Slot>(budget)), below_(memory::LeasedAllocator<Below>(budget)) {}

    /// `handle`: its key (mpi::handle_key). False if there was no memory for it.
    bool add(record::Object kind, std::uint64_t handle, std::uint32_t site) noexcept;
    /// The site of the last that was made with that handle; nothing if there is none.
    std::optional<std::uint32_t> remove(record::Object kind, std::uint64_t handle) noexcept;
    bool knows(record::Object kind, std::uint64_t handle) noexcept;
    std::size_t kept() const noexcept { return kept_; }

  private:
    static constexpr std::uint32_t k_nothing = 0xffff'ffff;
    static constexpr unsigned k_first_bits = 8;
    static constexpr unsigned k_kind_shift = 57;  // above any address of a program
    struct Slot {
        std::uint64_t key = 0;  // 0: free
        std::uint32_t site = 0;
        std::uint32_t below = k_nothing;
    };
    struct Below {
        std::uint32_t site = 0;
        std::uint32_t below = k_nothing;  // of a free one: the next that is free
    };

    static std::uint64_t key_of(record::Object kind, std::uint64_t handle) noexcept {
        return static_cast<std::uint64_t>(kind) << k_kind_shift | handle;
    }
    std::size_t home_of(std::uint64_t key) const noexcept;
    /// Where it is, or the free slot that ends the search.
    std::size_t place_of(std::uint64_t key) const noexcept;
    void grow();
    void push(Slot& slot, std::uint32_t site);
    void clear(std::size_t at) noexcept;

    std::mutex changing_;
    memory::LeasedVector<Slot> slots_;  // 2^bits_, of which a quarter stays free
    memory::LeasedVector<Below> below_;
    std::uint32_t free_below_ = k_nothing;
    unsigned bits_ = 0;
    std::size_t used_ = 0;  // slots
    std::size_t kept_ = 0;
};

}  // namespace sluice::plugin
