// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All settings of a user in one value. Their table is settings.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/export.h"
#include "sluice/units.hpp"

namespace sluice {

#define SLUICE_WORDS(Type, ...) enum class Type : std::uint8_t { __VA_ARGS__ };
#include "sluice/settings.def"
#undef SLUICE_WORDS

/// The word as a setting accepts it: "token", "auto".
#define SLUICE_WORDS(Type, ...) SLUICE_API std::string_view name_of(Type word);
#include "sluice/settings.def"
#undef SLUICE_WORDS

namespace setting_kind {
using bytes = Bytes;
using count = std::uint64_t;
using path = std::string;
#define SLUICE_WORDS(Type, ...) using sluice::Type;
#include "sluice/settings.def"
#undef SLUICE_WORDS
}  // namespace setting_kind

/// A value of each row of settings.def, with its default.
struct SLUICE_API Settings {
#define SLUICE_SETTING(name, kind, default_value, least, most, help) setting_kind::kind name{default_value};
#include "sluice/settings.def"
#undef SLUICE_SETTING

    /// Returns the defaults, overridden by the user's settings file, and these by the SLUICE_* variables of the
    /// environment. The file is the one that SLUICE_CONFIG names, or else `~/.config/sluice/settings`; a process reads
    /// it once.
    /// @throws Error invalid_argument for a value out of range, for an unknown name in the file or an unknown SLUICE_*
    ///         variable, with the nearest known name, and for a file that cannot be read
    static Settings from_environment();

    /// Sets one value from text, as an environment variable or a command-line option has it.
    /// @param name name of the setting, without `SLUICE_`: "staging"
    /// @param text its value: "64MiB", "128", "token"
    /// @throws Error invalid_argument for a value out of range, or for an unknown name, with the nearest known one
    void set(std::string_view name, std::string_view text);

    /// Returns one value as text that `set` accepts.
    /// @param name name of the setting
    /// @throws Error invalid_argument for an unknown name
    std::string get(std::string_view name) const;

    bool operator==(Settings const&) const = default;
};

/// One row of the table, for programs that print it.
struct SettingRow {
    std::string_view name;          ///< "staging"
    std::string_view variable;      ///< "SLUICE_STAGING"
    std::string_view kind;          ///< "bytes", "count", "word" or "path"
    std::string_view default_text;  ///< as text that `set` accepts
    std::string_view words;         ///< those that a word may be: "auto, message, ring"; else empty
    std::uint64_t least;            ///< the smallest value that is accepted; for bytes in bytes
    std::uint64_t most;             ///< the largest one
    std::string_view help;          ///< one line for people
};

/// All rows, in the order of the table.
SLUICE_API std::span<SettingRow const> setting_rows();

}  // namespace sluice
