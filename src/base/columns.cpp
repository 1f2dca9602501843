// SPDX-License-Identifier: BSD-3-Clause
#include "base/columns.hpp"

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
        std::size_t const end = text.find(' ');
        std::string_view const raw = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
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
