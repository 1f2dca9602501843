// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/say.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text/printable.hpp"
#include "kernel/files/standard_error.hpp"
#include "kernel/job/once_a_node.hpp"

namespace sluice::plugin {

namespace {

constexpr std::string_view k_head = "sluice: ";
using Line = std::array<char, k_head.size() + 1024>;

/// Allocates nothing: a rank without memory says its lines, too, and so does MPI_Abort in a signal handler. Returns the
/// text without its head and without a new line, for which there is room.
std::string_view formatted(Line& line, char const* format, va_list arguments) noexcept {
    char* const text = std::copy(k_head.begin(), k_head.end(), line.begin());
    int const bytes = std::vsnprintf(text, line.size() - k_head.size(), format, arguments);
    std::size_t const kept = std::min(static_cast<std::size_t>(std::max(bytes, 0)), line.size() - k_head.size() - 1);
    return {text, base::make_printable({text, kept})};
}

void put_line(Line& line, std::string_view text) {
    std::size_t const bytes = k_head.size() + text.size();
    line[bytes] = '\n';
    kernel::put_on_standard_error({line.data(), bytes + 1});
}

}  // namespace

void say(char const* format, ...) {
    Line line;
    va_list arguments;
    va_start(arguments, format);
    std::string_view const text = formatted(line, format, arguments);
    va_end(arguments);
    put_line(line, text);
}

void say_once_a_node(char const* format, ...) {
    Line line;
    va_list arguments;
    va_start(arguments, format);
    std::string_view const text = formatted(line, format, arguments);
    va_end(arguments);
    if (kernel::is_first_to_say(text)) put_line(line, text);
}

void say_lines(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        lines += k_head;
        lines += base::printable(line) + "\n";
    }
    kernel::put_on_standard_error(lines);  // in one piece, so that the lines of several ranks do not mix
}

}  // namespace sluice::plugin
