// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/registrars/counting.hpp"

namespace sluice::memory::registration {

Time CountingRegistrar::cost_of_add(Range range) const noexcept {
    return law_.add_page * pages_of(range) + law_.add_call;
}

Time CountingRegistrar::cost_of_remove(Range range) const noexcept {
    return law_.remove_page * pages_of(range) + law_.remove_call;
}

Registered CountingRegistrar::add(Range range) noexcept {
    if (Failure const failure = failure_.load(std::memory_order_relaxed); failure != Failure::none)
        return {0, failure, law_.add_call};
    std::uint64_t const bytes = whole_pages(range).bytes;
    if (pinned_.fetch_add(bytes, std::memory_order_relaxed) + bytes > most_bytes_) {
        pinned_.fetch_sub(bytes, std::memory_order_relaxed);
        return {0, Failure::limit, law_.add_call};
    }
    return {added_.fetch_add(1, std::memory_order_relaxed) + 1, Failure::none, cost_of_add(range)};
}

Time CountingRegistrar::remove(std::uint64_t, Range range) noexcept {
    pinned_.fetch_sub(whole_pages(range).bytes, std::memory_order_relaxed);
    removed_.fetch_add(1, std::memory_order_relaxed);
    return cost_of_remove(range);
}

}  // namespace sluice::memory::registration
