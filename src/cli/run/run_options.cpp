// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/run_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "cli/info/setting_options.hpp"
#include "cli/support/command.hpp"
#include "command_line/command_line.hpp"
#include "sluice/error.hpp"

namespace sluice::cli {

namespace {

constexpr char k_usage[] = "mpirun -n 4 sluice run [OPTIONS] [--] program [arguments…]";

constexpr char k_description[] =
    "Runs an MPI program as it is, in C, C++, Fortran or Python, with Open MPI or MPICH. The MPI's launcher comes "
    "first: "
    "each rank needs `sluice run`.\n\n"
    "On by default: watching (where the memory and the time of communication go; a summary at exit) and all-to-alls in "
    "place, served in little memory. `--watch off` and `--inplace off` turn them off. Everything else is off unless an "
    "option turns it on.\n\n"
    "Options come before the program; everything after its name belongs to the program.";

constexpr char k_footer[] =
    "A SIZE is bytes or has a unit: 4096, 64MiB, 1.5GB. --overlap alone is --overlap on, --flood the same. Every "
    "option is a variable of the environment too: "
    "--inplace-staging is SLUICE_INPLACE_STAGING, or `inplace_staging = SIZE` in the settings file, "
    "~/.config/sluice/settings or SLUICE_CONFIG (`sluice info` shows what applies, from where, and ranges); --memory "
    "alone is a node's, SLUICE_MEMORY a process's.\n\n"
    "Exit code: the program's. 2: wrong use; 126: the program cannot be run; 127: there is none.";

/// The options that most users want, in the order in which they need them, explained for users; the others follow in
/// the order of the table of settings.
struct First {
    std::string_view name;
    std::string_view help;
};
constexpr std::array k_first{
    First{
        "report",
        "folder for the report: a page, JSON, a timeline; it is made if it does not exist (off, the default: no files, "
        "a summary at exit)"},
    First{"memory",
          "memory that the ranks of a node may use together, as 2GiB; each gets an equal part; 0: the limits are "
          "detected"},
    First{"watch", "on or off: records where memory and time go; off: no summary and no report"},
    First{"quiet", "writes nothing on standard error: no summary and no warning; files of --report are written"},
    First{"inplace", "on or off: serves all-to-alls with MPI_IN_PLACE in the memory that --inplace-staging gives"},
    First{"overlap",
          "on, auto or off: a receive from another node returns when its message is matched, and the program waits "
          "when it "
          "touches the data; auto: only where that wins time"},
    First{"flood",
          "on or off: a rank that sends small messages faster than they are received is held up, so that they do not "
          "fill the receiver's memory"},
};

auto first_named(std::string_view name) {
    return std::find_if(k_first.begin(), k_first.end(), [name](First const& first) { return first.name == name; });
}

/// --memory sets SLUICE_NODE_MEMORY, so that row gets no option of its own.
std::vector<SettingRow const*> rows_of_options() {
    std::vector<SettingRow const*> rows;
    for (SettingRow const& row : setting_rows())
        if (row.name != "node_memory") rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(),
                     [](auto const* a, auto const* b) { return first_named(a->name) < first_named(b->name); });
    return rows;
}

/// An option and its value, as the user typed them.
struct Typed {
    SettingRow const* row;
    std::string option;
    std::string value;
};

SettingRow const* row_of_option(std::string const& option) {
    for (SettingRow const* row : rows_of_options())
        if (option_of(*row) == option) return row;
    return nullptr;
}

bool accepts(SettingRow const& row, std::string const& text) {
    try {
        Settings tried;
        tried.set(row.name, text);
        return true;
    } catch (Error const&) {
        return false;
    }
}

/// Returns true for settings that are off by default and can be on: the option without a value means on.
bool is_switch(SettingRow const& row) {
    return row.kind == "word" && row.default_text == "off" && accepts(row, "on");
}

/// Our options end at the start of the program: at the first argument that is neither an option nor its value, or after
/// "--". All our options but the help and switches take a value. Unknown options are taken for ones without a value,
/// and CommandLine reports them.
struct Split {
    std::vector<std::string> options;
    std::vector<std::string> command;
    std::optional<Typed> last;  ///< the last option whose value is an argument of its own
};

Split split(std::vector<std::string> const& arguments) {
    Split split;
    auto at = arguments.begin();
    std::vector<std::string_view> seen;
    for (; at != arguments.end() && at->size() > 1 && at->starts_with("-"); ++at) {
        if (*at == "--") {
            ++at;
            break;
        }
        if (*at == "--help" || *at == "-h") return {{*at}, {}, {}};
        split.options.push_back(*at);
        SettingRow const* const row = row_of_option(at->substr(0, at->find('=')));
        if (row == nullptr) continue;
        if (std::find(seen.begin(), seen.end(), row->name) != seen.end())
            throw UsageError(option_of(*row) + " is given twice");
        seen.push_back(row->name);
        std::string const wants = option_of(*row) + " takes " + value_in_words(*row);
        if (std::size_t const equals = at->find('='); equals != std::string::npos) {
            if (equals + 1 == at->size()) throw UsageError(wants + ", and nothing follows " + *at);
            continue;
        }
        auto const value = at + 1;
        if (is_switch(*row) && (value == arguments.end() || !accepts(*row, *value))) {
            split.options.emplace_back("on");
            continue;
        }
        if (value == arguments.end()) throw UsageError(wants + ", which is missing; so is the program: " + k_usage);
        if (*value == "--" || row_of_option(value->substr(0, value->find('='))) != nullptr)
            throw UsageError(wants + ", and " + *value + " stands in its place");
        split.options.push_back(*value);
        split.last = Typed{row, *at, *value};
        ++at;
    }
    split.command.assign(at, arguments.end());
    return split;
}

bool is_program(std::string const& name) {
    std::error_code unseen;
    return std::filesystem::is_regular_file(name, unseen) && access(name.c_str(), X_OK) == 0;
}

/// Handles `sluice run --report ./program`, where the option has taken the program as its value.
void refuse_swallowed_program(Split const& split) {
    if (!split.last || !is_program(split.last->value)) return;
    auto const& [row, option, value] = *split.last;
    if (!split.command.empty() && row->kind != "path") return;  // a wrong value is reported as such
    std::string text = option + " takes " + value_in_words(*row) + ", and " + value + " is a program";
    if (split.command.empty() && split.options.back() == value) text += "; no program is left to run";
    throw UsageError(text + ": sluice run " + option + " " + value_name_of(*row) + " " + value);
}

}  // namespace

std::optional<RunOptions> parse_run_options(std::vector<std::string> const& arguments) {
    command_line::CommandLine line("sluice run", k_description);
    line.set_usage(k_usage);
    line.set_footer(k_footer);
    std::vector<SettingRow const*> const rows = rows_of_options();
    std::vector<std::string> values(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        SettingRow const& row = *rows[i];
        auto const first = first_named(row.name);
        bool const is_first = first != k_first.end();
        line.option(option_of(row), values[i], std::string(is_first ? first->help : row.help))
            .default_text(std::string(row.default_text))
            .value_name(value_name_of(row))
            .heading(is_first ? "Options" : "Other settings of the library");
    }
    line.put_help_here("Print this help");
    Split split = cli::split(arguments);
    refuse_swallowed_program(split);  // first, because the following arguments are options of that program
    if (!line.parse(split.options)) return std::nullopt;
    if (split.command.empty()) throw UsageError(std::string("which program? ") + k_usage);
    RunOptions run;
    run.command = std::move(split.command);
    Settings checked = Settings::from_environment();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (values[i].empty()) continue;
        set_by_option(checked, *rows[i], values[i]);
        run.settings.push_back({*rows[i], values[i]});
    }
    return run;
}

}  // namespace sluice::cli
