// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report/name_sources.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/report/source_lines.hpp"

namespace sluice::cli {

namespace {

/// "exchange+0x1f (app)", or "app+0x4a1f" of a file without names, in its parts. Behind it may be the library that has
/// called MPI: ", in VecDot of libpetsc.so.3".
struct Parts {
    std::string_view function;
    std::string_view module;
    std::string_view library;
};

Parts parts_of(std::string_view place) {
    std::size_t const end = std::min(place.rfind(", in "), place.size());
    std::string_view const library = place.substr(end);
    std::string_view name = place.substr(0, end);
    std::string_view module;
    if (std::size_t const open = name.rfind(" ("); open != std::string_view::npos && name.ends_with(')')) {
        module = name.substr(open + 2, name.size() - open - 3);
        name = name.substr(0, open);
    }
    name = name.substr(0, name.rfind("+0x"));
    return module.empty() ? Parts{{}, name, library} : Parts{name, module, library};
}

/// The places with a line, by function and former name. A place is known by its function too, because a report has
/// copies of both.
using NewNames = std::map<std::pair<std::string, std::string>, std::string>;

void rename(NewNames const& names, std::string const& function, std::string& place) {
    if (auto const found = names.find({function, place}); found != names.end()) place = found->second;
}

}  // namespace

void name_sources(report::Summary& summary, ProgramFiles const& files) {
    SourceLines lines;
    if (!lines.can_tell()) return;
    NewNames names;
    for (report::SiteSum const& site : summary.sites) {
        if (site.place.find("+0x") == std::string::npos) continue;  // it was named before, or has no name
        Parts const parts = parts_of(site.place);
        std::filesystem::path const file = files.find(parts.module, site.code.mark);
        std::string const line = file.empty() ? std::string() : lines.at(file, site.code.offset);
        if (line.empty()) continue;
        names[{site.function, site.place}] = (parts.function.empty() ? std::string(parts.module) + "@" + line
                                                                     : std::string(parts.function) + "@" + line + " (" +
                                                                           std::string(parts.module) + ")") +
                                             std::string(parts.library);
    }
    for (report::SiteSum& site : summary.sites)
        rename(names, site.function, site.place);
    rename(names, summary.highest.function, summary.highest.place);
    for (report::Whereabouts& row : summary.now)
        rename(names, row.function, row.place);
    for (report::EndSum& end : summary.ends)
        rename(names, end.function, end.place);
}

}  // namespace sluice::cli
