// SPDX-License-Identifier: BSD-3-Clause
#include "cli/info/setting_options.hpp"

#include <algorithm>

#include "sluice/error.hpp"

namespace sluice::cli {

std::string option_of(SettingRow const& row) {
    std::string option = "--" + std::string(row.name);
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

std::string value_name_of(SettingRow const& row) {
    if (row.kind == "bytes") return "SIZE";
    if (row.kind == "count") return "N";
    return row.kind == "path" ? "DIR" : "WORD";
}

std::string value_in_words(SettingRow const& row) {
    if (row.kind == "bytes") return "a size, as 64MiB";
    if (row.kind == "count") return "a number";
    return row.kind == "path" ? "a folder" : "a word";
}

void set_by_option(Settings& settings, SettingRow const& row, std::string const& text) {
    try {
        settings.set(row.name, text);
    } catch (Error const& error) {
        std::string what = error.what();
        std::string const setting = "setting " + std::string(row.name) + " (" + std::string(row.variable) + ")";
        if (what.starts_with(setting)) what.replace(0, setting.size(), option_of(row));
        throw Error(error.code(), what);
    }
}

}  // namespace sluice::cli
