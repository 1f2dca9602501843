// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/ucx_registrar.hpp"

#include <chrono>
#include <new>

#include "kernel/guards/raw_calls.hpp"

namespace sluice::plugin {

using memory::registration::Failure;
using memory::registration::Range;
using memory::registration::Registered;
using memory::registration::Time;

namespace {

thread_local bool t_helps = false;

Time now() noexcept {
    return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

Range map_page() {
    std::size_t const bytes = kernel::page_size();
    void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return {reinterpret_cast<std::uintptr_t>(page), bytes};
}

}  // namespace

UcxRegistrar::Helping::Helping() noexcept {
    t_helps = true;
}

UcxRegistrar::Helping::~Helping() {
    t_helps = false;
}

UcxRegistrar::UcxRegistrar(ucx::Library library, void* context)
    : library_(library), context_(context), page_(map_page()) {}

UcxRegistrar::~UcxRegistrar() {
    library_.forget(page_);
    kernel::unmap(reinterpret_cast<std::byte*>(page_.begin), page_.bytes);
}

Registered UcxRegistrar::add(Range range) noexcept {
    if (!t_helps) return {1, Failure::none, Time{0}};
    if (watch_ != nullptr && !watch_->watches(range)) return {0, Failure::not_mapped, Time{0}};
    Time const begun = now();
    bool const done = library_.register_in_cache(context_, range);
    unsettled_ = false;  // a registration gives back what was forgotten before it
    // The mapping may have changed meanwhile, and its change may have been told before the cache had the range.
    bool const is_watched = watch_ == nullptr || watch_->watches(range);
    if (done && !is_watched) {
        library_.forget(range);
        unsettled_ = true;
    }
    Failure const failure = !is_watched ? Failure::not_mapped : done ? Failure::none : Failure::limit;
    return {1, failure, now() - begun};
}

Time UcxRegistrar::remove(std::uint64_t, Range range) noexcept {
    if (!t_helps) {
        library_.forget(range);
        return Time{0};
    }
    Time const begun = now();
    library_.forget(range);
    unsettled_ = true;
    return now() - begun;
}

void UcxRegistrar::settle() noexcept {
    if (!unsettled_) return;
    library_.forget(page_);
    library_.register_in_cache(context_, page_);
    unsettled_ = false;
}

}  // namespace sluice::plugin
