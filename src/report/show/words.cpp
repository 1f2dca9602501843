// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/words.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sluice::report {

std::string size_text(std::uint64_t bytes) {
    constexpr std::array k_units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < k_units.size()) {
        value /= 1024;
        ++unit;
    }
    int const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    // A whole number is written without decimals; a rounded figure shows all of its digits, as its neighbours do.
    bool const is_whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
    std::string const number = fmt::format("{:.{}f}", value, is_whole ? 0 : digits);
    return number + " " + k_units[unit];
}

std::string kib_text(std::uint64_t kib) {
    return size_text(kib << 10);
}

std::string time_text(std::uint64_t us) {
    double const seconds = static_cast<double>(us) / 1e6;
    if (seconds < 0.001) return fmt::format("{} µs", us);
    if (seconds < 0.1) return fmt::format("{:.1f} ms", seconds * 1e3);
    if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
    if (seconds < 119.95) return fmt::format("{:.1f} s", seconds);
    std::uint64_t const whole = us / 1'000'000;
    if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string percent_text(double part, double whole) {
    double const percent = whole > 0 ? 100 * part / whole : 0;
    if (percent == 0) return "0 %";
    if (percent < 0.1) return "< 0.1 %";
    return percent < 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string count_text(std::uint64_t count) {
    if (count < 1'000'000) return std::to_string(count);
    if (count < 1'000'000'000) return fmt::format("{:.1f} million", static_cast<double>(count) / 1e6);
    return fmt::format("{:.1f} billion", static_cast<double>(count) / 1e9);
}

std::string plural(std::uint64_t count, std::string_view what) {
    return count_text(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view several) {
    return count_text(count) + " " + std::string(count == 1 ? one : several);
}

std::string short_place(std::string_view place) {
    if (place.size() <= k_place_shown) return std::string(place);
    std::string text;
    int depth = 0;
    for (char const c : place) {
        if (c == '<' && depth++ == 0) text += "<…>";
        if (depth == 0) text += c;
        if (c == '>' && depth > 0) --depth;
    }
    if (depth > 0) text = place;
    if (text.size() <= k_place_shown) return text;
    std::size_t last = text.size() - k_place_shown / 2;
    std::size_t first = k_place_shown - k_place_shown / 2 - 1;
    // No character of several bytes is cut.
    auto const inside = [&text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    while (first > 0 && inside(first))
        --first;
    while (last < text.size() && inside(last))
        ++last;
    return text.substr(0, first) + "…" + text.substr(last);
}

std::string call_text(std::string_view function, std::string_view place) {
    if (function.empty()) return "outside MPI";
    return std::string(function) + (place.empty() ? "" : " at " + short_place(place));
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

void add_unless_empty(std::vector<std::string>& list, std::string text) {
    if (!text.empty()) list.push_back(std::move(text));
}

}  // namespace sluice::report
