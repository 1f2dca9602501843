// SPDX-License-Identifier: BSD-3-Clause
/// Writes the documentation's page of the settings from the one table, settings.def: sluice_settings_page FILE
#include <fstream>
#include <iostream>
#include <string>

#include "base/units.hpp"
#include "sluice/settings.hpp"

namespace {

std::string range_of(sluice::SettingRow const& row) {
    if (row.kind == "word") return std::string(row.words);
    if (row.kind == "path") return "a path";
    if (row.kind == "bytes")
        return sluice::base::exact_bytes({row.least}) + " … " + sluice::base::exact_bytes({row.most});
    return std::to_string(row.least) + " … " + std::to_string(row.most);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: sluice_settings_page FILE\n";
        return 2;
    }
    std::ofstream page(argv[1]);
    page << "# Settings {#settings}\n\n"
            "Each is a field of `sluice::Settings`, a variable of the environment and a name in the settings file\n"
            "(`~/.config/sluice/settings`, or the file that `SLUICE_CONFIG` names). A variable that begins with\n"
            "`SLUICE_` and is none of these is an error that names the nearest known one. Bytes are written as\n"
            "`4096`, `64KiB`, `2MiB`, `1.5GB`.\n\n"
            "| setting | variable | default | range | what it is |\n| --- | --- | --- | --- | --- |\n";
    for (sluice::SettingRow const& row : sluice::setting_rows())
        page << "| `" << row.name << "` | `" << row.variable << "` | " << row.default_text << " | " << range_of(row)
             << " | " << row.help << " |\n";
    page.close();
    if (!page) std::cerr << "sluice_settings_page: cannot write " << argv[1] << "\n";
    return page ? 0 : 1;
}
