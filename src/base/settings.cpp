// SPDX-License-Identifier: BSD-3-Clause
#include "sluice/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <type_traits>
#include <vector>

#include "base/nearest.hpp"
#include "base/settings_file.hpp"
#include "base/units.hpp"
#include "sluice/error.hpp"

namespace sluice {

namespace {

constexpr std::string_view k_prefix = "SLUICE_";

// These variables are not settings: tests and benchmarks use them, module files and package managers set them to the
// folder of the library, or they name the settings file.
constexpr std::array<std::string_view, 2> k_foreign_prefixes{"SLUICE_TEST_", "SLUICE_BENCH_"};
constexpr std::array<std::string_view, 4> k_foreign_names{"SLUICE_ROOT", "SLUICE_DIR", "SLUICE_HOME",
                                                          base::k_settings_file_variable};

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

/// The enumerators of a setting's type, as settings.def lists them: "automatic, message, ring".
template <typename Type>
constexpr std::string_view k_enumerators{};
#define SLUICE_WORDS(Type, ...) \
    template <>                 \
    constexpr std::string_view k_enumerators<Type> = #__VA_ARGS__;
#include "sluice/settings.def"
#undef SLUICE_WORDS

/// The words that the setting accepts, in the order of the enumerators.
template <typename Type>
std::vector<std::string_view> const& words_of() {
    static auto const words = [] {
        std::vector<std::string_view> result;
        std::string_view rest = k_enumerators<Type>;
        while (!rest.empty()) {
            std::string_view const enumerator = rest.substr(0, rest.find(','));
            result.push_back(enumerator == "automatic" ? "auto" : enumerator);
            rest.remove_prefix(std::min(rest.size(), enumerator.size() + std::string_view(", ").size()));
        }
        return result;
    }();
    return words;
}

template <typename Type>
std::string listed_words() {
    std::string list;
    if constexpr (std::is_enum_v<Type>)
        for (std::string_view const word : words_of<Type>())
            list.append(list.empty() ? "" : ", ").append(word);
    return list;
}

constexpr std::string_view kind_named(std::string_view kind) {
    return kind == "bytes" || kind == "count" || kind == "path" ? kind : "word";
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

/// A folder for the report switches it on, so off switches it off, as in other settings; ./off is a folder of that
/// name.
void read(SettingRow const& row, std::string_view text, std::string& value) {
    value = row.name == "report" && text == "off" ? std::string_view() : text;
}

template <typename Type>
requires std::is_enum_v<Type>
void read(SettingRow const& row, std::string_view text, Type& value) {
    std::vector<std::string_view> const& words = words_of<Type>();
    auto const found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) refuse(row, text, "known are " + listed_words<Type>());
    value = static_cast<Type>(found - words.begin());
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
template <typename Type>
requires std::is_enum_v<Type> std::string text_of(Type value) {
    return std::string(name_of(value));
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

#define SLUICE_WORDS(Type, ...)                                     \
    std::string_view name_of(Type word) {                           \
        return words_of<Type>().at(static_cast<std::size_t>(word)); \
    }
#include "sluice/settings.def"
#undef SLUICE_WORDS

Settings Settings::from_environment() {
    Settings settings;
    base::SettingsFile const& file = base::settings_file();
    for (base::SettingsFile::Entry const& entry : file.entries) {
        try {
            settings.set(entry.name, entry.value);
        } catch (Error const& error) {
            throw Error(error.code(), file.place_of(entry) + ": " + error.what());
        }
    }
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
        std::string words;
    };
    static Settings const defaults;
    static std::array const texts{
#define SLUICE_SETTING(name, kind, default_value, least, most, help) \
    Text{variable_of(#name), text_of(defaults.name), listed_words<setting_kind::kind>()},
#include "sluice/settings.def"
#undef SLUICE_SETTING
    };
    static auto const rows = [] {
        std::size_t i = 0;
        std::array result{
#define SLUICE_SETTING(name, kind, default_value, least, most, help) \
    SettingRow{#name, {}, kind_named(#kind), {}, {}, std::uint64_t{least}, std::uint64_t{most}, help},
#include "sluice/settings.def"
#undef SLUICE_SETTING
        };
        for (SettingRow& row : result) {
            row.variable = texts[i].variable;
            row.default_text = texts[i].default_text;
            row.words = texts[i].words;
            ++i;
        }
        return result;
    }();
    return rows;
}

}  // namespace sluice
