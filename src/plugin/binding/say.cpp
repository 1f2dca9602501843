// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/say.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <tuple>

#include "base/text/printable.hpp"
#include "kernel/files/patient_write.hpp"
#include "kernel/job/once_a_node.hpp"
#include "plugin/binding/plugin.hpp"
#include "plugin/binding/standard_error.hpp"

namespace sluice::plugin {

namespace {

// Standard error stayed full: no further line waits for its reader.
std::atomic<bool> g_is_stuck{false};

void put_out(std::string_view text) {
    if (is_quiet()) return;
    bool const is_stuck = g_is_stuck.load(std::memory_order_relaxed);
    auto const patience = is_stuck ? std::chrono::milliseconds(0) : kernel::k_patience;
    if (write_to_standard_error(text, patience) == Written::stuck) g_is_stuck.store(true, std::memory_order_relaxed);
}

// In one piece, so that the lines of several ranks do not mix.
std::string as_line(std::string_view text) {
    return "sluice: " + base::printable(text) + "\n";
}

using Line = std::array<char, 1024>;

std::string_view formatted(Line& line, char const* format, va_list arguments) {
    std::vsnprintf(line.data(), line.size(), format, arguments);
    return line.data();
}

/// A rank without memory says its lines, too: bytes that are not printable ASCII become '?' there.
void put_line(std::string_view text) {
    try {
        put_out(as_line(text));
    } catch (std::bad_alloc const&) {
        constexpr std::string_view k_head = "sluice: ";
        std::array<char, std::tuple_size_v<Line> + k_head.size()> line{};
        char* const begin = std::copy(k_head.begin(), k_head.end(), line.begin());
        char* const end = std::transform(text.begin(), text.end(), begin,
                                         [](char byte) { return byte >= ' ' && byte <= '~' ? byte : '?'; });
        *end = '\n';  // in place of the zero
        put_out({line.data(), static_cast<std::size_t>(end - line.data()) + 1});
    }
}

}  // namespace

bool is_quiet() noexcept {
    // Some lines come before the settings are read.
    char const* const value = std::getenv("SLUICE_QUIET");
    return value != nullptr ? std::strcmp(value, "on") == 0 : g_plugin.quiet;
}

void say(char const* format, ...) {
    Line line;
    va_list arguments;
    va_start(arguments, format);
    put_line(formatted(line, format, arguments));
    va_end(arguments);
}

void say_once_a_node(char const* format, ...) {
    Line line;
    va_list arguments;
    va_start(arguments, format);
    std::string_view const text = formatted(line, format, arguments);
    va_end(arguments);
    if (kernel::is_first_to_say(text)) put_line(text);
}

void say_lines(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        lines += as_line(line);
    }
    put_out(lines);
}

}  // namespace sluice::plugin
