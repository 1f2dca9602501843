// SPDX-License-Identifier: BSD-3-Clause
// `sluice report`: shows the report of a job, also of a killed one, from its report folder; or two jobs side by side.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <thread>

#include "cli/report/name_sources.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/once.hpp"
#include "command_line/command_line.hpp"
#include "functions.hpp"
#include "record/jobs_folder.hpp"
#include "report/read/left_behind.hpp"
#include "report/read/node_files.hpp"
#include "report/read/sum_contradictions.hpp"
#include "report/show/at_end.hpp"
#include "report/show/comparison.hpp"
#include "report/show/files.hpp"
#include "report/show/page.hpp"
#include "report/show/text.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "sluice/error.hpp"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

struct Wishes {
    std::vector<std::string> folders;
    bool json = false;
    std::string html;
    std::string trace;
    std::vector<std::string> programs;
};

/// Returns the names of MPI functions by their number in records.
std::span<char const* const> function_names() {
    return plugin::k_function_names;
}

void say(std::string const& line) {
    tell(line);
}

/// The summary of a folder's job, and whether the reports are still to be made from the records.
struct Loaded {
    report::Summary summary;
    bool is_new = false;
    std::vector<std::uint32_t> living = {};  // processes of its ranks
};

void write_what_was_missing(fs::path const& folder, report::Summary const& summary) {
    try {
        report::write_report(folder, summary, report_template().value_or(fs::path()));
        say(fmt::format("{}: made from the records of its ranks: report.json, trace.json{}", folder.string(),
                        report_template() ? ", report.html" : "; no page, because this build has no template for it"));
    } catch (Error const& error) {
        say(error.what());  // the report is shown although its folder is read-only
    }
}

/// Returns the summary of the folder's report.json; empty if there is none. A broken file gets a line if records can
/// replace it, otherwise it is an error.
std::optional<report::Summary> written_in(fs::path const& folder, bool has_records) {
    fs::path const file = folder / "report.json";
    std::error_code unseen;
    if (!fs::exists(fs::symlink_status(file, unseen))) return std::nullopt;
    try {
        return report::read_report(file);
    } catch (Error const& error) {
        if (!has_records) throw;
        say(std::string(error.what()) + "; taking the records of the ranks instead");
        return std::nullopt;
    }
}

constexpr std::chrono::milliseconds k_between_readings{50};
constexpr int k_most_readings = 20;

/// Reads the records of a folder. Where one rank has ended out of order, its launcher ends the others, and may return
/// before these processes are gone: so they are looked at again, for a second at most.
report::LeftBehind records_of(fs::path const& folder) {
    report::LeftBehind left = report::read_node_files(folder, function_names());
    for (int pauses = 0; pauses < k_most_readings && left.summary.may_run() && !left.summary.ends.empty(); ++pauses) {
        std::this_thread::sleep_for(k_between_readings);
        left = report::read_node_files(folder, function_names());
    }
    return left;
}

Loaded as_written(report::Summary summary) {
    for (std::string const& line : report::lines_of_contradictions(summary))
        say(line);
    return {std::move(summary)};
}

/// Reads report.json, unless the folder holds the records of a later job that did not write its own.
Loaded load(fs::path const& folder) {
    if (!fs::is_directory(folder)) throw UsageError(folder.string() + " is not a folder; name one that --report made");
    bool const has_records = report::has_node_files(folder);
    std::optional<report::Summary> written = written_in(folder, has_records);
    if (!has_records) {
        if (!written) throw UsageError(folder.string() + " holds neither report.json nor node-*.sluice");
        return as_written(std::move(*written));
    }
    std::optional<report::LeftBehind> left;
    try {
        left = records_of(folder);
    } catch (Error const&) {
        if (!written) throw;
        return as_written(std::move(*written));
    }
    if (written && written->all_ended() && left->summary.start_unix_us <= written->start_unix_us)
        return as_written(std::move(*written));
    for (std::string const& line : left->skipped)
        say(line);
    bool const may_run = left->summary.may_run();
    if (may_run) say(folder.string() + ": the job may still run; nothing is written into its folder");
    return {std::move(left->summary), !may_run, std::move(left->living)};
}

/// Returns the folder of the last job that did not end, among the jobs without a report folder of their own; or else of
/// a job that is still running.
std::string last_left_behind() {
    std::vector<std::string> const folders = record::folders_of_jobs(record::temporary_folders().front());
    std::vector<report::Remains> jobs;
    for (std::string const& folder : folders)
        for (report::Remains& job : report::jobs_left_in(folder))
            jobs.push_back(std::move(job));
    std::stable_sort(jobs.begin(), jobs.end(), [](report::Remains const& a, report::Remains const& b) {
        return a.last_sign_unix_us > b.last_sign_unix_us;
    });
    std::erase_if(jobs, [](report::Remains const& job) { return !report::has_node_files(job.path); });
    if (jobs.empty()) throw UsageError("which folder? No job left its records in " + folders.front());
    auto const runs = [](report::Remains const& job) { return job.alive; };
    std::stable_partition(jobs.begin(), jobs.end(), [&runs](report::Remains const& job) { return !runs(job); });
    auto const running = static_cast<std::size_t>(std::count_if(jobs.begin(), jobs.end(), runs));
    if (jobs.size() > 1)
        say(fmt::format("{}: the last of {} that did not end; {} still {}", jobs.front().path.string(),
                        jobs.size() - running, running, running == 1 ? "runs" : "run"));
    return jobs.front().path.string();
}

void print_text(std::vector<report::Summary> const& summaries) {
    if (summaries.size() == 1)
        fmt::print("{}", report::to_screen(summaries[0]));
    else
        fmt::print("{}", report::to_screen(summaries[0], summaries[1]));
}

void print_json(std::vector<report::Summary> const& summaries) {
    if (summaries.size() == 1)
        fmt::print("{}", report::to_text(summaries[0]));
    else
        fmt::print("[{},{}]\n", report::to_text(summaries[0]), report::to_text(summaries[1]));
}

void write_wished(Wishes const& wishes, std::vector<report::Summary> const& summaries) {
    if (!wishes.html.empty()) {
        std::optional<fs::path> const page = report_template();
        if (!page)
            throw Error(ErrorCode::unsupported,
                        "this build has no template for the page (share/sluice/report.html): it was configured without "
                        "d3.min.js; see SLUICE_D3 in docs/report.md");
        report::write_page(*page, summaries, wishes.html);
    }
    if (!wishes.trace.empty())
        report::write_whole(wishes.trace, [&](std::ostream& out) { report::write_trace(summaries.front(), out); });
}

/// The plugin's own use of this command: kernel/process/beside.hpp says how it knows that all went well.
int run_at_end(std::vector<std::string> const& arguments) {
    std::optional<report::EndedJob> const job = report::ended_job_in(arguments);
    if (!job) throw UsageError(std::string(report::k_at_end) + " is for the plugin");
    std::string const text = report::report_at_end(
        *job, function_names(), report_template().value_or(fs::path()),
        [](report::LeftBehind& read) { name_sources(read.summary, ProgramFiles({}, read.living)); });
    std::fwrite(text.c_str(), 1, text.size() + 1, stdout);
    return 0;
}

}  // namespace

int run_report(std::vector<std::string> const& arguments) {
    if (!arguments.empty() && arguments.front() == report::k_at_end) return run_at_end(arguments);
    Wishes wishes;
    command_line::CommandLine line("sluice report",
                                   "Shows the report of a job from its folder, or from the records there if the job "
                                   "was killed; compares two jobs, before and after");
    line.option(
            "folder", wishes.folders,
            "Folders that --report made: one, or two to compare; without any, the records of the last job that did not "
            "end; those of the last 4 such jobs stay for 7 days")
        .any_number();
    line.flag("--json", wishes.json, "Print JSON instead of text; for two folders a list");
    line.option("--html", wishes.html, "Write the page to this file").value_name("FILE");
    line.option("--trace", wishes.trace, "Write a timeline for Perfetto to this file; for two folders, of the first")
        .value_name("FILE");
    line.option("--program", wishes.programs,
                "The program or a library of the job, for source lines, if it is neither here nor on the search path")
        .any_number()
        .value_name("FILE");
    if (!line.parse(arguments)) return 0;
    if (wishes.folders.size() > 2)
        throw UsageError(fmt::format("at most two folders can be compared, and {} were named", wishes.folders.size()));
    if (wishes.folders.empty()) wishes.folders.push_back(last_left_behind());
    std::vector<report::Summary> summaries;
    std::vector<std::size_t> to_write;  // written only if no folder had an error
    for (std::string const& folder : wishes.folders) {
        Loaded loaded = load(folder);
        name_sources(loaded.summary, ProgramFiles(wishes.programs, loaded.living));
        if (loaded.is_new) to_write.push_back(summaries.size());
        summaries.push_back(std::move(loaded.summary));
    }
    for (std::size_t const i : to_write)
        write_what_was_missing(wishes.folders[i], summaries[i]);
    if (wishes.json)
        print_json(summaries);
    else
        print_text(summaries);
    write_wished(wishes, summaries);
    return 0;
}

}  // namespace sluice::cli
