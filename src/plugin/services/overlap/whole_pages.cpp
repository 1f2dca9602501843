// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/whole_pages.hpp"

#include <pthread.h>
#include <unistd.h>

namespace sluice::plugin {

namespace {

std::uintptr_t page_bytes() noexcept {
    static auto const bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace

std::optional<PageRange> pages_of(Landing const& landing, pages::Interface const* library, bool none_active) noexcept {
    std::uintptr_t const page = page_bytes();
    auto const buffer = reinterpret_cast<std::uintptr_t>(landing.buffer);
    std::uintptr_t const begin = buffer & ~(page - 1);
    std::uintptr_t const end = (buffer + landing.bytes + page - 1) & ~(page - 1);
    PageRange const range{reinterpret_cast<std::byte*>(begin), end - begin};
    std::uintptr_t const room_end = buffer + landing.room;
    if (begin == buffer && end <= room_end) return range;
    pages::Block block{};
    if (library == nullptr || !library->find(range.begin, range.bytes, &block)) return std::nullopt;
    if (none_active) return range;
    std::uintptr_t const asked_end = reinterpret_cast<std::uintptr_t>(block.begin) + block.asked;
    if (begin == buffer && room_end >= asked_end) return range;
    return std::nullopt;
}

bool end_with_thread(PageRange const& range) noexcept {
    if (gettid() == getpid()) return false;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;
    void* stack = nullptr;
    std::size_t bytes = 0;
    bool const known = pthread_attr_getstack(&attributes, &stack, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    auto* const begin = static_cast<std::byte*>(stack);
    return !known || (range.begin < begin + bytes && begin < range.begin + range.bytes);
}

}  // namespace sluice::plugin
