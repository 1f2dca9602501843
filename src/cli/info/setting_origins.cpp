// SPDX-License-Identifier: BSD-3-Clause
#include "cli/info/setting_origins.hpp"

#include <cstdlib>

#include "base/settings_file.hpp"
#include "base/units.hpp"

namespace sluice::cli {

std::vector<SettingOrigin> setting_origins(std::map<std::string, std::string> const& options) {
    Settings settings = Settings::from_environment();
    for (auto const& [name, text] : options)
        settings.set(name, text);
    base::SettingsFile const& file = base::settings_file();
    std::map<std::string, std::string> places;
    for (base::SettingsFile::Entry const& entry : file.entries)
        places[entry.name] = file.place_of(entry);
    std::vector<SettingOrigin> origins;
    for (SettingRow const& row : setting_rows()) {
        std::string const name(row.name);
        std::string origin = places.contains(name) ? places[name] : "default";
        if (std::getenv(std::string(row.variable).c_str()) != nullptr) origin = "environment";
        if (options.contains(name)) origin = "option";
        origins.push_back({row, settings.get(row.name), origin});
    }
    return origins;
}

std::string range_of(SettingRow const& row) {
    if (row.kind == "word") return "a word";
    if (row.kind == "path") return "a path";
    if (row.kind == "bytes") return base::exact_bytes(Bytes{row.least}) + " … " + base::exact_bytes(Bytes{row.most});
    return std::to_string(row.least) + " … " + std::to_string(row.most);
}

}  // namespace sluice::cli
