// `sluice report`: shows what a job left in its report folder, also after it was killed; or two jobs side by side.
#include <fmt/format.h>

#include <optional>
#include <span>

#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/options.hpp"
#include "functions.hpp"
#include "report/comparison.hpp"
#include "report/files.hpp"
#include "report/node_files.hpp"
#include "report/page.hpp"
#include "report/record_file.hpp"
#include "report/summary_json.hpp"
#include "report/text.hpp"
#include "report/trace.hpp"
#include "sluice/error.hpp"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

struct Wishes {
    std::vector<std::string> folders;
    bool json = false;
    std::string html;
    std::string trace;
};

/// Names by number, as the records have them.
std::span<char const* const> function_names() {
    return interpose::k_function_names;
}

void say(std::string const& line) {
    fmt::print(stderr, "sluice: {}\n", line);
}

void write_what_was_missing(fs::path const& folder, report::Summary const& summary) {
    try {
        report::write_report(folder, summary, report_template().value_or(fs::path()));
        say(fmt::format("{}: made from the records of its ranks: report.json, trace.json{}", folder.string(),
                        report_template() ? ", report.html" : "; no page, for this build has no template of it"));
    } catch (Error const& error) {
        say(error.what());  // a folder that may only be read is no reason to show nothing
    }
}

/// report.json, unless the folder holds the records of a later job, which did not come to write its own.
report::Summary load(fs::path const& folder) {
    if (!fs::is_directory(folder)) throw UsageError(folder.string() + " is no folder; name one that --report made");
    fs::path const file = folder / "report.json";
    std::optional<report::Summary> written;
    if (fs::exists(file)) written = report::read_report(file);
    if (!report::has_node_files(folder)) {
        if (!written) throw UsageError(folder.string() + " holds neither report.json nor node-*.sluice");
        return *written;
    }
    if (written && written->all_ended()) {
        try {
            report::LeftBehind const left = report::read_node_files(folder, function_names());
            if (left.summary.start_unix_us <= written->start_unix_us) return *written;
        } catch (Error const&) {
            return *written;
        }
    }
    report::LeftBehind left = report::read_node_files(folder, function_names());
    for (std::string const& line : left.skipped)
        say(line);
    write_what_was_missing(folder, left.summary);
    return std::move(left.summary);
}

/// The folder of the job that began last among those whose records nobody named a folder for and that did not end.
std::string last_left_behind() {
    fs::path const where = report::folder_of_jobs();
    std::error_code none;
    std::optional<fs::directory_entry> newest;
    std::size_t jobs = 0;
    for (fs::directory_entry const& entry : fs::directory_iterator(where, none)) {
        if (!entry.is_directory() || !report::has_node_files(entry.path())) continue;
        ++jobs;
        if (!newest || entry.last_write_time() > newest->last_write_time()) newest = entry;
    }
    if (!newest) throw UsageError("which folder? No job left its records in " + where.string());
    if (jobs > 1) say(fmt::format("the last of {} jobs in {} that did not end, or still run", jobs, where.string()));
    return newest->path().string();
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
                        "this build has no template of the page (share/sluice/report.html): it was configured without "
                        "d3.min.js; see SLUICE_D3 in docs/report.md");
        report::write_page(*page, summaries, wishes.html);
    }
    if (!wishes.trace.empty())
        report::write_whole(wishes.trace, [&](std::ostream& out) { report::write_trace(summaries.front(), out); });
}

}  // namespace

int run_report(std::vector<std::string> const& arguments) {
    Wishes wishes;
    CLI::App app(
        "Shows the report of a job from its folder; of one that was killed from what its ranks left there; of two jobs "
        "side by side, before and after",
        "report");
    app.add_option(
           "folder", wishes.folders,
           "Folders that --report made: one, or two to compare; without any, what the last job that did not end left "
           "in its temporary folder")
        ->expected(0, 2);
    app.add_flag("--json", wishes.json, "Print JSON (of two: a list) instead of text");
    app.add_option("--html", wishes.html, "Write the page to this file");
    app.add_option("--trace", wishes.trace, "Write a timeline for Perfetto to this file; of two, the first's");
    if (!parse_options(app, arguments)) return 0;
    if (wishes.folders.empty()) wishes.folders.push_back(last_left_behind());
    std::vector<report::Summary> summaries;
    for (std::string const& folder : wishes.folders)
        summaries.push_back(load(folder));
    if (wishes.json)
        print_json(summaries);
    else
        print_text(summaries);
    write_wished(wishes, summaries);
    return 0;
}

}  // namespace sluice::cli
