// SPDX-License-Identifier: BSD-3-Clause
#include "base/text/printable.hpp"

#include <cstdint>

namespace sluice::base {

namespace {

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: these bytes are no UTF-8
};

/// The character at the beginning of a text that is not empty. Overlong forms and surrogates are no UTF-8.
Character first_of(std::string_view text) {
    auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned const lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    std::size_t const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
    std::uint32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t k_least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < k_least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
    return {code, bytes};
}

bool is_obeyed(std::uint32_t code) {
    bool const controls = code < 0x20 || (code >= 0x7f && code <= 0x9f);
    bool const ends_line = code == 0x2028 || code == 0x2029;
    bool const turns_text = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
    return controls || ends_line || turns_text;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result(text);
    result.resize(make_printable(result));
    return result;
}

std::size_t make_printable(std::span<char> text) noexcept {
    std::size_t from = 0;
    std::size_t to = 0;
    while (from < text.size()) {
        Character const next = first_of({text.data() + from, text.size() - from});
        if (next.bytes == 0 || is_obeyed(next.code))
            text[to++] = '?';
        else
            for (std::size_t i = 0; i < next.bytes; ++i)
                text[to++] = text[from + i];
        from += next.bytes == 0 ? 1 : next.bytes;
    }
    return to;
}

}  // namespace sluice::base
