// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/say.hpp"

#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace sluice::plugin {

void say(char const* format, ...) {
    std::array<char, 1024> line{};
    int length = std::snprintf(line.data(), line.size(), "sluice: ");
    va_list arguments;
    va_start(arguments, format);
    length +=
        std::vsnprintf(line.data() + length, line.size() - static_cast<std::size_t>(length) - 1, format, arguments);
    va_end(arguments);
    if (length > static_cast<int>(line.size()) - 2) length = static_cast<int>(line.size()) - 2;
    line[static_cast<std::size_t>(length)] = '\n';
    // In one piece, so that the lines of several ranks do not mix.
    if (write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length) + 1) < 0) return;
}

}  // namespace sluice::plugin
