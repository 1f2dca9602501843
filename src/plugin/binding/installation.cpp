// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/installation.hpp"

#include <dlfcn.h>

namespace sluice::plugin {

namespace {

std::filesystem::path beside_plugin(char const* name) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&page_template), &info) == 0 || info.dli_fname == nullptr) return {};
    std::filesystem::path const here = std::filesystem::path(info.dli_fname).parent_path();
    std::error_code unseen;
    for (char const* up : {"..", "../.."})
        if (auto file = here / up / name; std::filesystem::is_regular_file(file, unseen)) return file;
    return {};
}

}  // namespace

std::filesystem::path page_template() {
    return beside_plugin("share/sluice/report.html");
}

std::filesystem::path sluice_command() {
    return beside_plugin("bin/sluice");
}

}  // namespace sluice::plugin
