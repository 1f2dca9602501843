// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/slurm_tasks.hpp"

#include <charconv>

namespace sluice::cli {

namespace {

/// Takes a number from the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number == 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

}  // namespace

std::optional<std::uint64_t> slurm_tasks_on(std::string_view list, std::uint64_t node) {
    while (true) {
        auto const tasks = take_number(list);
        if (!tasks) return std::nullopt;
        std::uint64_t nodes = 1;
        if (take(list, "(x")) {
            auto const times = take_number(list);
            if (!times || !take(list, ")")) return std::nullopt;
            nodes = *times;
        }
        if (node < nodes) return tasks;
        node -= nodes;
        if (!take(list, ",")) return std::nullopt;
    }
}

}  // namespace sluice::cli
