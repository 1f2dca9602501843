// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/registration/locked_room.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_unlimited = std::numeric_limits<std::uint64_t>::max();

/// For messages of UCX's own between two looks, and buffers that are too small to be served.
constexpr std::uint64_t k_reserve = std::uint64_t{1} << 20;

}  // namespace

std::uint64_t pinned_bytes() noexcept {
    constexpr std::array<std::string_view, 1> k_line{"VmPin:"};
    std::array<char, 128> room;
    return kernel::bytes_after(kernel::read_lines("/proc/self/status", k_line, room), k_line[0]).value_or(0);
}

LockedRoom::LockedRoom(Bytes setting)
    : setting_(setting.count == 0 ? Bytes{k_unlimited} : setting),
      locked_(memory::registration::pinned_limit(Bytes{0}).count),
      budget_(room_beside(locked_ == k_unlimited ? 0 : pinned_bytes())) {}

void LockedRoom::follow(memory::registration::Cache const& cache) noexcept {
    if (locked_ == k_unlimited) return;
    std::uint64_t const pinned = pinned_bytes();
    budget_.set_limit(room_beside(pinned - std::min(pinned, cache.pinned().count)));
}

Bytes LockedRoom::room_beside(std::uint64_t others) const noexcept {
    if (locked_ == k_unlimited) return setting_;
    return std::min(setting_, Bytes{locked_ - std::min(locked_, others + k_reserve)});
}

}  // namespace sluice::plugin
