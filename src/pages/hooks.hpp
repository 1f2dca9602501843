// SPDX-License-Identifier: BSD-3-Clause
/// The calls of the plugin's hooks. Without a hook a call costs one load and one branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::pages {

using BeforeChange = void (*)(void const* from, std::size_t bytes);
using BeforeEnd = void (*)();

struct Hooks {
    std::atomic<BeforeChange> before_change{nullptr};
    std::atomic<BeforeEnd> before_end{nullptr};
    std::atomic<std::uint64_t> generation{0};
};
extern Hooks hooks;  // complete when the library is loaded

void set_hook(BeforeChange before_change) noexcept;
void set_end_hook(BeforeEnd before_end) noexcept;

/// These call the hook, unless this thread is in one, or this process is a child that has the memory of its parent.
/// They leave errno alone.
void call_before_change(void const* from, std::size_t bytes) noexcept;
void call_before_end() noexcept;

inline bool is_hooked() noexcept {
    return hooks.before_change.load(std::memory_order_relaxed) != nullptr;
}

inline void before_change(void const* from, std::size_t bytes) noexcept {
    if (is_hooked()) [[unlikely]]
        call_before_change(from, bytes);
}

inline void before_any_change() noexcept {
    before_change(nullptr, SIZE_MAX);
}

inline void before_end() noexcept {
    if (hooks.before_end.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
        call_before_end();
}

/// After a call that may have changed or locked a mapping: a look at the mappings before it is no longer true.
inline void mappings_changed() noexcept {
    hooks.generation.fetch_add(1, std::memory_order_release);
}

}  // namespace sluice::pages
