// SPDX-License-Identifier: BSD-3-Clause
#include "base/columns.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::base {

namespace {

/// Returns the first or last `columns` code points.
std::string_view first_columns(std::string_view text, std::size_t columns) {
    std::size_t i = 0;
    for (; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && columns-- == 0) break;
    return text.substr(0, i);
}

std::string shortened(std::string_view word, std::size_t columns) {
    std::size_t const all = columns_of(word);
    if (all <= columns) return std::string(word);
    std::size_t const half = (columns - 1) / 2;
    std::string_view const head = first_columns(word, columns - 1 - half);
    std::string_view const tail = word.substr(first_columns(word, all - half).size());
    return std::string(head) + "…" + std::string(tail);
}

bool is_unit(std::string_view word) {
    static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "s", "ms", "µs", "%"};
    std::string_view const bare = word.substr(0, word.find_last_not_of(".,:;)") + 1);
    return std::find(std::begin(units), std::end(units), bare) != std::end(units);
}

/// How long the part is with which the text begins and which is not broken: a word, or a number and its unit.
std::size_t unbroken(std::string_view text) {
    std::size_t const end = std::min(text.find(' '), text.size());
    bool const number = end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9';
    if (!number || end == text.size()) return end;
    std::size_t const second = std::min(text.find(' ', end + 1), text.size());
    return is_unit(text.substr(end + 1, second - end - 1)) ? second : end;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    for (char const c : text)
        columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return columns;
}

std::string wrapped(std::string_view label, std::string_view text, std::size_t columns) {
    std::size_t const indent = columns_of(label);
    std::string result(label);
    std::size_t used = indent;
    bool empty = true;
    while (!text.empty()) {
        std::string_view const raw = text.substr(0, unbroken(text));
        text.remove_prefix(std::min(raw.size() + 1, text.size()));
        std::string const word = shortened(raw, columns - indent);
        std::size_t const width = columns_of(word);
        if (!empty && used + 1 + width > columns) {
            result += "\n" + std::string(indent, ' ');
            used = indent;
            empty = true;
        }
        if (!empty) {
            result += ' ';
            ++used;
        }
        result += word;
        used += width;
        empty = false;
    }
    return result + "\n";
}

}  // namespace sluice::base
