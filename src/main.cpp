// SPDX-License-Identifier: BSD-3-Clause
// The command `sluice`: inspects the machine and launches measurements. It links no MPI, so that one binary serves all.
#include <array>
#include <cstdio>
#include <iostream>

#include "cli/support/command.hpp"
#include "cli/support/once.hpp"
#include "command_line/manual.hpp"
#include "sluice/error.hpp"

namespace sluice::cli {

namespace {

constexpr std::array k_commands{
    Command{"run", "runs an unmodified MPI program, watched and helped: mpirun -n 4 sluice run PROGRAM", run_run},
    Command{"info", "version, builds found, settings, memory limit", run_info},
    Command{"doctor", "what works on this machine, and what follows if it does not", run_doctor},
    Command{"report", "shows the report of a job, also of a killed one; or two side by side", run_report},
    Command{"memory", "measures what an MPI takes for itself, and predicts it for larger jobs", run_memory},
    Command{"bench", "runs a benchmark and prints its table", run_bench},
};

constexpr char k_exit_codes[] =
    "Exit code: 0; 1 when it failed, 2 for wrong use. `sluice run` ends as its program does.";

void print_help() {
    std::cout << "Sluice: run MPI programs in the memory they have.\n\nUsage: sluice COMMAND [OPTIONS]\n\n";
    for (Command const& command : k_commands)
        std::printf("  %-8s %s\n", command.name.data(), command.help.data());
    std::cout << "\n  --version, --help; sluice COMMAND --help tells more\n\n" << k_exit_codes << "\n";
}

void print_manual_page() {
    command_line::CommandList list{
        "sluice", "Runs MPI programs in the memory they have.", "COMMAND [OPTIONS]", "Commands", {}, k_exit_codes};
    for (Command const& command : k_commands)
        list.commands.push_back({command.name, command.help});
    std::cout << command_line::manual_of(list);
}

int run(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        print_help();
        return k_wrong_use;
    }
    std::string const name = arguments.front();
    arguments.erase(arguments.begin());
    if (name == "--help" || name == "-h" || name == "help") {
        print_help();
        return 0;
    }
    if (name == command_line::k_manual_option) {
        print_manual_page();
        return 0;
    }
    if (name == "--version" || name == "version") {
        std::cout << "sluice " SLUICE_VERSION "\n";
        return 0;
    }
    std::vector<std::string_view> known;
    for (Command const& command : k_commands) {
        if (command.name == name) return command.run(arguments);
        known.push_back(command.name);
    }
    if (name.starts_with("-")) throw unknown("option", name, std::array<std::string_view, 2>{"--help", "--version"});
    throw unknown("command", name, known);
}

}  // namespace

}  // namespace sluice::cli

int main(int argc, char** argv) {
    try {
        return sluice::cli::run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (sluice::cli::UsageError const& error) {
        sluice::cli::complain(error.what());
        return sluice::cli::k_wrong_use;
    } catch (sluice::Error const& error) {
        sluice::cli::complain(error.what());
        return error.code() == sluice::ErrorCode::invalid_argument ? sluice::cli::k_wrong_use : sluice::cli::k_failed;
    } catch (std::exception const& error) {
        sluice::cli::complain(error.what());
        return sluice::cli::k_failed;
    }
}
