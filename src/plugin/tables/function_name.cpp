// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/function_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice::plugin {

namespace {

/// Parentheses that are part of a name: they hold no parameters.
constexpr std::array<std::string_view, 2> k_parts{"(anonymous namespace)", "operator()"};

bool is_operator(std::string_view name, std::size_t at) {
    constexpr std::string_view k_word = "operator";
    std::size_t const begin = name.find_last_not_of("<>=-!&|^~+*/%", at);
    return begin != std::string_view::npos && begin + 1 >= k_word.size() && begin <= at &&
           name.substr(begin + 1 - k_word.size(), k_word.size()) == k_word;
}

}  // namespace

std::string function_name(std::string_view demangled) {
    std::size_t begin = 0;
    int depth = 0;  // of <>, {} and, within these, of parentheses
    std::size_t end = demangled.size();
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        char const c = demangled[i];
        auto const* const part = std::find_if(k_parts.begin(), k_parts.end(), [&](std::string_view text) {
            return demangled.substr(i, text.size()) == text;
        });
        if (part != k_parts.end()) {
            i += part->size() - 1;
            continue;
        }
        bool const opens = c == '{' || (c == '<' && !is_operator(demangled, i)) || (c == '(' && depth > 0);
        bool const closes =
            c == '}' || (c == '>' && depth > 0 && !is_operator(demangled, i)) || (c == ')' && depth > 0);
        if (opens) ++depth;
        if (closes) --depth;
        if (depth > 0 || opens || closes) continue;
        if (c == '(' && i > begin) {
            end = i;
            break;
        }
        // What is before a blank is the result, unless the name goes on: "operator new".
        bool const conversion = i >= 8 && demangled.substr(i - 8, 8) == "operator";
        if (c == ' ' && !conversion) begin = i + 1;
    }
    if (begin >= end) return std::string(demangled);
    return std::string(demangled.substr(begin, end - begin));
}

}  // namespace sluice::plugin
