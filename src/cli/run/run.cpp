// SPDX-License-Identifier: BSD-3-Clause
// `sluice run`: starts between the MPI's launcher and the program, preloads the plugin for the program's MPI, and
// becomes the program.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/settings_file.hpp"
#include "base/units.hpp"
#include "cli/run/preload.hpp"
#include "cli/run/program.hpp"
#include "cli/run/run_options.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/once.hpp"
#include "kernel/job/run_mark.hpp"
#include "kernel/launcher.hpp"
#include "record/record.hpp"
#include "sluice/settings.hpp"

namespace sluice::cli {

namespace fs = std::filesystem;

namespace {

bool is_quiet() {
    char const* const value = kernel::variable("SLUICE_QUIET");
    return value != nullptr && std::string_view(value) == "on";
}

/// Prints one line for the whole job, not one for each rank.
void say_once(std::string const& line) {
    if (is_quiet()) return;
    char const* const rank = kernel::rank_of_launcher();
    if (rank == nullptr || std::string_view(rank) == "0") tell(line);
}

/// Returns the MPI whose launcher started this process, for programs that load MPI late.
std::optional<std::string> mpi_of_launcher() {
    if (kernel::first_variable({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}) != nullptr) return "openmpi";
    if (kernel::first_variable({"PMI_RANK", "MPI_LOCALRANKID"}) != nullptr) return "mpich";
    return std::nullopt;
}

/// Returns the names of the plugins for the MPIs among `libraries`.
std::vector<std::string> mpis_among(std::vector<std::string> const& libraries) {
    std::vector<std::string> found;
    for (std::string const& library : libraries) {
        std::string mpi;
        if (library.starts_with("libmpich.so") || library.starts_with("libmpi.so.12") ||
            library.starts_with("libmpi_cray.so"))
            mpi = "mpich";
        if (library.starts_with("libmpi.so.40")) mpi = "openmpi";
        if (!mpi.empty() && std::find(found.begin(), found.end(), mpi) == found.end()) found.push_back(mpi);
    }
    return found;
}

/// The plugin for the program, or the reason why there is none.
struct Choice {
    fs::path plugin;
    std::string why_not;
};

Choice plugin_for(std::string const& mpi) {
    for (MpiBuild const& build : mpi_builds())
        if (build.name == mpi && !build.plugin.empty()) return {fs::canonical(build.plugin), {}};
    return {{}, "there is no plugin for " + mpi + " beside this command"};
}

/// For a program that is linked to no MPI and that no launcher started. It may load one later; then the plugin says if
/// it was made for the other.
Choice plugin_of_any() {
    for (MpiBuild const& build : mpi_builds())
        if (!build.plugin.empty()) return {fs::canonical(build.plugin), {}};
    return {{}, "there is no plugin beside this command"};
}

Choice choose(fs::path const& file) {
    Program const program = look_at(file);
    switch (program.kind) {
        case ProgramKind::privileged:
            return {{}, "the program runs with rights that its user has not, for which nothing is preloaded"};
        case ProgramKind::foreign:
            return {{}, "the program is built for another architecture"};
        case ProgramKind::static_binary:
            return {{}, "the program is linked statically: nothing can be preloaded"};
        case ProgramKind::unreadable:
            return {{}, "the program cannot be read"};
        case ProgramKind::dynamic:
        case ProgramKind::script:
            break;
    }
    std::vector<std::string> libraries;
    if (program.kind == ProgramKind::dynamic) libraries = libraries_of(program, file);
    auto const first = std::find_if(libraries.begin(), libraries.end(), must_come_first);
    if (first != libraries.end()) return {{}, "nothing can be preloaded before its " + *first};
    if (!libraries.empty() && std::find(libraries.begin(), libraries.end(), "libc.so.6") == libraries.end())
        return {{}, "the program does not use the C library that the plugin is made for (glibc)"};
    std::vector<std::string> const mpis = mpis_among(libraries);
    if (mpis.size() > 1) return {{}, "the program is linked to two MPIs, " + mpis[0] + " and " + mpis[1]};
    std::optional<std::string> const launcher = mpi_of_launcher();
    if (mpis.size() == 1 && launcher && *launcher != mpis.front() && kernel::variable("SLURM_JOB_ID") == nullptr)
        say_once("the program is linked to " + mpis.front() + ", but the launcher is that of " + *launcher +
                 ": each rank will be a job of its own");
    if (mpis.size() == 1) return plugin_for(mpis.front());
    return launcher ? plugin_for(*launcher) : plugin_of_any();
}

/// The program runs also where this process cannot find out what it needs to know, for example because the user may
/// start no more processes.
Choice choose_if_possible(fs::path const& file) {
    Choice choice;
    try {
        choice = choose(file);
    } catch (std::exception const& error) {
        return {{}, std::string("cannot find its libraries: ") + error.what()};
    }
    if (choice.why_not.empty()) choice.why_not = refusal_of_loader(choice.plugin);
    if (!choice.why_not.empty()) choice.plugin.clear();
    return choice;
}

void set(std::string const& name, std::string const& value) {
    setenv(name.c_str(), value.c_str(), 1);
}

/// --memory is the memory of a node; each of its ranks gets an equal part.
void share_memory(std::string const& text) {
    Bytes const node = base::parse_bytes(text);
    std::uint64_t const local = kernel::ranks_of_node().value_or(1);
    set("SLUICE_NODE_MEMORY", base::exact_bytes(node));
    if (kernel::variable("SLUICE_MEMORY") != nullptr) return;
    // A value of 0 would mean to detect the memory.
    std::uint64_t const own = node.count == 0 ? 0 : std::max<std::uint64_t>(node.count / local, 1);
    set("SLUICE_MEMORY", base::exact_bytes(Bytes{own}));
}

/// The folder itself, or the nearest folder above it that exists.
fs::path nearest_existing(fs::path folder, std::error_code& failed) {
    while (fs::status(folder, failed).type() == fs::file_type::not_found && folder.has_relative_path())
        folder = folder.parent_path();
    return folder;
}

/// Why no files can be written below the folder; no error if they can.
std::error_code refusal_of(fs::path const& folder, std::error_code failed) {
    if (failed) return failed;
    if (!fs::is_directory(folder, failed)) return failed ? failed : std::make_error_code(std::errc::not_a_directory);
    if (access(folder.c_str(), W_OK | X_OK) != 0) return {errno, std::generic_category()};
    return {};
}

/// Returns the folder as an absolute path; nothing if it is not writable or cannot be made. It is made in MPI_Init, so
/// a program that never calls it leaves no empty folder. It is checked here and not only by the plugin, because one
/// that cannot be used leaves more lines there.
std::optional<fs::path> report_folder(std::string const& text) {
    std::error_code failed;
    fs::path const folder = fs::absolute(text, failed);
    fs::path const existing = failed ? fs::path() : nearest_existing(folder, failed);
    if (std::error_code const refusal = refusal_of(existing, failed)) {
        say_once(fmt::format("no report: {}: {}", text, refusal.message()));
        return std::nullopt;
    }
    fs::space_info const space = fs::space(existing, failed);
    if (failed || space.available >= sizeof(record::RankRecord)) return folder;
    say_once(fmt::format("no report: {}: {} are free there, and the record of a rank needs {}", text,
                         base::format_bytes({space.available}), base::format_bytes({sizeof(record::RankRecord)})));
    return std::nullopt;
}

/// Ranks on several nodes tell each other through the fence of MPI_Init that they run under Sluice (declaration.hpp).
/// The fence carries that only with its default settings, and a rank must know that no parameter file changes them.
/// The plugin takes out of the environment again what is set here, if both were: children that the program starts
/// inherit the rest of it.
void keep_fence_of_init() {
    constexpr std::array k_fence{std::pair{"OMPI_MCA_pmix_base_async_modex", "0"},
                                 std::pair{"OMPI_MCA_pmix_base_collect_data", "1"}};
    bool const none_is_set = std::all_of(k_fence.begin(), k_fence.end(),
                                         [](auto const& entry) { return std::getenv(entry.first) == nullptr; });
    for (auto const& [name, value] : k_fence)
        setenv(name, value, 0);
    if (none_is_set) setenv(kernel::k_fence_variable, "1", 1);
}

/// The library of whole pages, if the job overlaps: by an option, a variable or the settings file.
fs::path pages_for_overlap() {
    if (Settings::from_environment().overlap == OverlapMode::off) return {};
    fs::path const library = pages_library();
    std::string const why_not = library.empty() ? "there is no libsluice-pages.so beside this command"
                                                : refusal_of_loader(fs::canonical(library));
    if (why_not.empty()) return fs::canonical(library);
    say_once("receives return with their data: " + why_not);
    return {};
}

/// Programs may change their folder before MPI_Init.
void make_settings_file_absolute() {
    char const* const path = kernel::variable(base::k_settings_file_variable);
    std::error_code failed;
    if (path == nullptr) return;
    fs::path const absolute = fs::absolute(path, failed);
    if (!failed) set(base::k_settings_file_variable, absolute.string());
}

fs::path find_program(std::string const& name) {
    if (name.find('/') != std::string::npos) return name;
    if (auto const found = in_path(name)) return *found;
    return name;
}

/// Reports mistakes here, because otherwise every rank would report them, in other words.
void check_program(fs::path const& file) {
    std::string const name = file.filename();
    if (name == "mpirun" || name == "mpiexec" || name.starts_with("mpirun.") || name.starts_with("mpiexec.") ||
        name == "srun")
        throw UsageError("the launcher comes first: " + name + " -n 4 sluice run ./program");
    std::error_code unseen;
    if (fs::is_directory(file, unseen)) throw UsageError(file.string() + " is a folder, not a program");
}

[[noreturn]] void become(std::vector<std::string> const& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string const& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    int const error = errno;
    std::string text = fmt::format("cannot run {}: {}", command.front(), std::strerror(error));
    if (std::error_code unseen; command.front().find('/') == std::string::npos && fs::exists(command.front(), unseen))
        text += "; did you mean ./" + command.front() + "?";
    complain(text);
    std::exit(error == ENOENT ? k_no_program : k_program_cannot_run);
}

/// What is said before the plugin reads the settings obeys the settings file, too.
void make_quiet_setting_a_variable() {
    if (Settings::from_environment().quiet == Switch::on) set("SLUICE_QUIET", "on");
}

}  // namespace

int run_run(std::vector<std::string> const& arguments) {
    std::optional<RunOptions> const options = parse_run_options(arguments);
    if (!options) return 0;
    make_settings_file_absolute();
    if (kernel::is_of_other_job()) unsetenv("SLUICE_REPORT");  // the folder is that of the job whose rank starts this
    for (auto const& [row, text] : options->settings)
        if (row.name == "quiet") set(std::string(row.variable), text);  // before anything is said
    make_quiet_setting_a_variable();
    for (auto const& [row, text] : options->settings) {
        if (row.name == "memory") {
            share_memory(text);
        } else if (row.name == "report" && text != "off") {
            if (auto const folder = report_folder(text)) set("SLUICE_REPORT", folder->string());
        } else {
            set(std::string(row.variable), text);
        }
    }
    std::vector<std::string> const& command = options->command;
    fs::path const program = find_program(command.front());
    check_program(program);
    std::error_code unseen;
    bool const is_found = program.string().find('/') != std::string::npos && fs::exists(program, unseen);
    if (!is_found) become(command);  // cannot start the command, and prints the reason
    Choice const choice = choose_if_possible(program);
    if (!choice.why_not.empty()) {
        say_once("runs the program plainly: " + choice.why_not);
    } else {
        if (choice.plugin.filename() == "libsluice-preload-openmpi.so") keep_fence_of_init();
        set(kernel::k_run_variable, kernel::run_mark());
        let_sanitizer_come_later();
    }
    preload({choice.plugin, choice.plugin.empty() ? fs::path() : pages_for_overlap()});
    become(command);
}

}  // namespace sluice::cli
