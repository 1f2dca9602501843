// SPDX-License-Identifier: BSD-3-Clause
/// The blocks of whole pages that the program holds now, in the order of their addresses.
///
///     | begin asked | begin asked | …          in pages of its own: an allocator cannot allocate
///
/// A block that finds no place in the table is not known, and nothing worse happens.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "pages/pages.hpp"

namespace sluice::pages {

std::size_t page_size() noexcept;

/// Rounds up to whole pages; 0 if there is no such number.
std::size_t whole_pages(std::size_t bytes) noexcept;

/// Complete when the library is loaded. Several threads may use it; nothing of the program runs under its lock.
class Blocks {
  public:
    constexpr Blocks() = default;

    void add(void* begin, std::size_t asked) noexcept;
    /// Does nothing if there is no block that begins there. Returns whether there was one.
    bool remove(void* begin) noexcept;
    /// See Interface::find.
    bool find(void const* address, std::size_t bytes, Block* block) noexcept;

    // For a fork, whose child has only one thread.
    void lock() noexcept { pthread_mutex_lock(&mutex_); }
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

  private:
    struct Entry {
        std::uintptr_t begin;
        std::size_t asked;
    };
    /// The number of blocks that begin at or below the address.
    std::size_t count_up_to(std::uintptr_t address) const noexcept;
    bool make_room() noexcept;

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Entry* entries_ = nullptr;
    std::size_t used_ = 0;
    std::size_t room_ = 0;
};

extern Blocks blocks;

}  // namespace sluice::pages
