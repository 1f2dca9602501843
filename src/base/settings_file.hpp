// SPDX-License-Identifier: BSD-3-Clause
/// The settings file: settings of a user that need no variable of the environment.
///
/// A line is `name = value`, such as `staging = 8MiB`; names are those of settings.def. Empty lines and lines that
/// begin with # are comments. The file is the one that SLUICE_CONFIG names, or else `sluice/settings` in
/// XDG_CONFIG_HOME, or else `.config/sluice/settings` in HOME. An empty SLUICE_CONFIG means no file.
#pragma once

#include <string>
#include <vector>

namespace sluice::base {

struct SettingsFile {
    struct Entry {
        std::string name;
        std::string value;
        int line;
    };
    std::string path;  ///< empty if there is no file
    std::vector<Entry> entries;

    /// "FILE:LINE", for messages and origins.
    std::string place_of(Entry const& entry) const { return path + ":" + std::to_string(entry.line); }
};

/// The variable that names the file.
inline constexpr char k_settings_file_variable[] = "SLUICE_CONFIG";

/// Reads a settings file. Names and values are checked where they are set, not here.
/// Throws Error(invalid_argument) for a file that cannot be read, is no regular file, is larger than 64 KiB, or has a
/// line that is none of the above; the text names file and line.
SettingsFile read_settings_file(std::string const& path);

/// The file of this process, which is read at the first call: an edit during a job must not make ranks or contexts
/// differ. Throws like read_settings_file(); a missing file is an error only if SLUICE_CONFIG names it.
SettingsFile const& settings_file();

}  // namespace sluice::base
