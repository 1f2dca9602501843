// SPDX-License-Identifier: BSD-3-Clause
/// The texts in which the kernel tells numbers: files of /proc and of control groups. Nothing here allocates, because a
/// starting program whose memory is measured uses it too.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::kernel {

/// The number that `text` begins with.
inline std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

/// The number after `key` at the beginning of a line, as in "VmRSS:    1234 kB". `key` must be the whole word.
inline std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(key)) continue;
        std::string_view const rest = line.substr(key.size());
        std::size_t const digit = rest.find_first_not_of(" \t");
        if (digit != std::string_view::npos && (digit > 0 || key.ends_with(':')))
            if (auto const number = number_in(rest.substr(digit))) return number;
    }
    return std::nullopt;
}

/// The same in bytes: /proc tells memory in units of 1024 bytes.
inline std::optional<std::uint64_t> bytes_after(std::string_view text, std::string_view key) noexcept {
    auto const number = number_after(text, key);
    if (!number) return std::nullopt;
    return *number * 1024;
}

/// The number in field `field` of a line of fields that one blank divides, the first being 0.
inline std::optional<std::uint64_t> number_of_field(std::string_view line, unsigned field) noexcept {
    for (; field > 0; --field) {
        std::size_t const blank = line.find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        line.remove_prefix(blank + 1);
    }
    return number_in(line);
}

/// What /proc/PID/statm tells: "size resident shared text library data dirty", in pages.
struct Statm {
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    std::uint64_t shared = 0;
    std::uint64_t data = 0;
};

inline std::optional<Statm> statm_in(std::string_view text) noexcept {
    std::array<std::uint64_t, 6> numbers{};
    for (std::uint64_t& number : numbers) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    return Statm{numbers[0], numbers[1], numbers[2], numbers[5]};
}

/// What /proc/PID/status tells of resident memory, in bytes.
struct MemoryStatus {
    std::uint64_t high_water = 0;  ///< the most that the process has held since it began its program (exec)
    std::uint64_t anonymous = 0;
    std::uint64_t files = 0;
    std::uint64_t shared = 0;  ///< shared memory: tmpfs, System V, anonymous mappings that are shared
    std::uint64_t huge = 0;    ///< reserved huge pages, which count nowhere else
};

/// The lines that tell it.
inline constexpr std::array<std::string_view, 5> k_lines_of_memory{
    "VmHWM:", "RssAnon:", "RssFile:", "RssShmem:", "HugetlbPages:"};

inline std::optional<MemoryStatus> memory_status_in(std::string_view text) noexcept {
    auto const high_water = bytes_after(text, "VmHWM:");
    auto const anonymous = bytes_after(text, "RssAnon:");
    auto const files = bytes_after(text, "RssFile:");
    auto const shared = bytes_after(text, "RssShmem:");
    if (!high_water || !anonymous || !files || !shared) return std::nullopt;
    return MemoryStatus{*high_water, *anonymous, *files, *shared, bytes_after(text, "HugetlbPages:").value_or(0)};
}

/// What /proc/PID/stat tells of a process.
struct ProcessStat {
    char state = 0;  ///< a letter: Z has ended, and its parent has not asked for its exit code
    std::uint64_t parent = 0;
    std::uint64_t started = 0;  ///< clock ticks since the system's start
    bool is_ending = false;     ///< the main thread has ended, or is about to
    std::optional<int> status;  ///< of a process that ends, as waitpid() will tell it; Linux 3.5
};

/// Fields are counted after the name, which may contain any character, blanks and parentheses too.
inline std::optional<ProcessStat> process_stat_in(std::string_view text) noexcept {
    std::size_t const name_ends = text.rfind(") ");
    if (name_ends == std::string_view::npos || name_ends + 2 >= text.size()) return std::nullopt;
    text.remove_prefix(name_ends + 2);
    auto const parent = number_of_field(text, 1);
    auto const started = number_of_field(text, 19);
    if (!parent || !started) return std::nullopt;
    constexpr std::uint64_t k_exiting = 0x4;  // PF_EXITING of linux/sched.h
    ProcessStat stat{text.front(), *parent, *started, false, std::nullopt};
    stat.is_ending = (number_of_field(text, 6).value_or(0) & k_exiting) != 0;
    if (auto const status = number_of_field(text, 49)) stat.status = static_cast<int>(*status);
    return stat;
}

}  // namespace sluice::kernel
