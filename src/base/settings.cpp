// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "base/nearest.hpp"
#include "base/units.hpp"
#include "sluice/error.hpp"

namespace sluice {

namespace {

constexpr std::string_view k_prefix = "SLUICE_";

// These variables are not settings: tests and benchmarks use them, or module files and package managers set them to the
// folder of the library.
constexpr std::array<std::string_view, 2> k_foreign_prefixes{"SLUICE_TEST_", "SLUICE_BENCH_"};
constexpr std::array<std::string_view, 3> k_foreign_names{"SLUICE_ROOT", "SLUICE_DIR", "SLUICE_HOME"};

bool is_foreign(std::string_view variable) {
    auto const begins = [&](std::string_view prefix) { return variable.starts_with(prefix); };
    return std::any_of(k_foreign_prefixes.begin(), k_foreign_prefixes.end(), begins) ||
           std::find(k_foreign_names.begin(), k_foreign_names.end(), variable) != k_foreign_names.end();
}

std::string variable_of(std::string_view name) {
    std::string variable(k_prefix);
    for (char const c : name)
        variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return variable;
}

[[noreturn]] void refuse(SettingRow const& row, std::string_view text, std::string const& why) {
    throw Error(ErrorCode::invalid_argument, "setting " + std::string(row.name) + " (" + std::string(row.variable) +
                                                 ") cannot be '" + std::string(text) + "': " + why);
}

// The help of a word lists the names that it may take: "auto, message (MPI only), ring (…) or other".
std::vector<std::string> words_of(std::string_view help) {
    std::vector<std::string> words(1);
    int depth = 0;
    for (char const c : help) {
        if (c == '(') ++depth;
        if (depth == 0) {
            bool const letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
            if (letter) words.back() += c;
            if (!letter && !words.back().empty()) words.emplace_back();
        }
        if (c == ')') --depth;
    }
    std::erase_if(words, [](std::string const& word) { return word.empty() || word == "or"; });
    return words;
}

void read(SettingRow const& row, std::string_view text, Bytes& value) {
    Bytes parsed;
    try {
        parsed = base::parse_bytes(text);
    } catch (Error const& error) {
        refuse(row, text, error.what());
    }
    if (parsed.count < row.least || parsed.count > row.most)
        refuse(row, text, "the range is " + base::exact_bytes({row.least}) + " to " + base::exact_bytes({row.most}));
    value = parsed;
}

void read(SettingRow const& row, std::string_view text, std::uint64_t& value) {
    std::uint64_t parsed = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(row, text, "it is not a whole number");
    if (parsed < row.least || parsed > row.most)
        refuse(row, text, "the range is " + std::to_string(row.least) + " to " + std::to_string(row.most));
    value = parsed;
}

void read(SettingRow const& row, std::string_view text, std::string& value) {
    if (row.kind == "path") {
        value = text;
        return;
    }
    std::vector<std::string> const words = words_of(row.help);
    if (std::find(words.begin(), words.end(), text) == words.end()) {
        std::string known;
        for (std::string const& word : words)
            known += (known.empty() ? "" : ", ") + word;
        refuse(row, text, "known are " + known);
    }
    value = text;
}

std::string text_of(Bytes value) {
    return base::exact_bytes(value);
}
std::string text_of(std::uint64_t value) {
    return std::to_string(value);
}
std::string text_of(std::string const& value) {
    return value;
}

SettingRow const& row_named(std::string_view name) {
    std::vector<std::string_view> known;
    for (SettingRow const& row : setting_rows()) {
        if (row.name == name) return row;
        known.push_back(row.name);
    }
    throw Error(ErrorCode::invalid_argument, "no setting is called '" + std::string(name) + "'; the nearest is '" +
                                                 std::string(base::nearest(name, known)) + "'");
}

SettingRow const& row_of_variable(std::string_view variable) {
    std::vector<std::string_view> known;
    for (SettingRow const& row : setting_rows()) {
        if (row.variable == variable) return row;
        known.push_back(row.variable);
    }
    throw Error(ErrorCode::invalid_argument, "the environment sets " + std::string(variable) +
                                                 ", which is no setting; the nearest is " +
                                                 std::string(base::nearest(variable, known)));
}

}  // namespace

Settings Settings::from_environment() {
    Settings settings;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view const assignment(*entry);
        std::size_t const equals = assignment.find('=');
        std::string_view const variable = assignment.substr(0, equals);
        if (equals == std::string_view::npos || !variable.starts_with(k_prefix) || is_foreign(variable)) continue;
        settings.set(row_of_variable(variable).name, assignment.substr(equals + 1));
    }
    return settings;
}

void Settings::set(std::string_view row_name, std::string_view text) {
    SettingRow const& row = row_named(row_name);
#define SLUICE_SETTING(field, kind, default_value, least, most, help) \
    if (row.name == #field) read(row, text, this->field);
#include "sluice/settings.def"
#undef SLUICE_SETTING
}

std::string Settings::get(std::string_view row_name) const {
    SettingRow const& row = row_named(row_name);
#define SLUICE_SETTING(field, kind, default_value, least, most, help) \
    if (row.name == #field) return text_of(this->field);
#include "sluice/settings.def"
#undef SLUICE_SETTING
    throw Error(ErrorCode::internal, "setting '" + std::string(row_name) + "' has a row and no value");
}

std::span<SettingRow const> setting_rows() {
    struct Text {
        std::string variable;
        std::string default_text;
    };
    static Settings const defaults;
    static std::array const texts{
#define SLUICE_SETTING(name, kind, default_value, least, most, help) Text{variable_of(#name), text_of(defaults.name)},
#include "sluice/settings.def"
#undef SLUICE_SETTING
    };
    static auto const rows = [] {
        std::size_t i = 0;
        std::array result{
#define SLUICE_SETTING(name, kind, default_value, least, most, help) \
    SettingRow{#name, {}, #kind, {}, std::uint64_t{least}, std::uint64_t{most}, help},
#include "sluice/settings.def"
#undef SLUICE_SETTING
        };
        for (SettingRow& row : result) {
            row.variable = texts[i].variable;
            row.default_text = texts[i].default_text;
            ++i;
        }
        return result;
    }();
    return rows;
}

}  // namespace sluice
