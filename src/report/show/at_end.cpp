// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/at_end.hpp"

#include "report/read/node_files.hpp"
#include "report/show/files.hpp"
#include "report/show/text.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

std::vector<std::string> arguments_of(EndedJob const& job) {
    return {k_at_end, job.is_watched ? "watched" : "counted", job.records, job.folder};
}

std::optional<EndedJob> ended_job_in(std::vector<std::string> const& arguments) {
    if (arguments.size() != 4 || arguments[0] != k_at_end) return std::nullopt;
    return EndedJob{arguments[2], arguments[1] == "watched", arguments[3]};
}

std::string report_at_end(EndedJob const& job, std::span<char const* const> functions,
                          std::filesystem::path const& page_template, Completion const& complete) {
    LeftBehind read = read_ended(job.records, functions);
    if (complete) complete(read);
    std::string lines;
    for (std::string const& skipped : read.skipped)
        lines += skipped + "\n";
    if (!job.is_watched) {
        for (std::string const& line : service_lines(read.summary))
            lines += line + "\n";
        return lines;
    }
    lines += to_screen(read.summary);
    if (job.folder.empty()) return lines;
    try {
        write_report(job.folder, read.summary, page_template);
        return lines + "report written to " + job.folder + "\n";
    } catch (Error const& error) {
        return lines + "no report: " + error.what() + "\n";
    }
}

}  // namespace sluice::report
