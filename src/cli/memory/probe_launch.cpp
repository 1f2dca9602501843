// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/probe_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_probe_program = "sluice-probe-memory";

/// A file with one page of zeros that is removed with the object: the barrier of one run.
class BarrierFile {
  public:
    BarrierFile() : path_((std::filesystem::temp_directory_path() / "sluice-barrier-XXXXXX").string()) {
        int const file = mkstemp(path_.data());
        bool const made = file >= 0 && ftruncate(file, 4096) == 0;
        int const why = errno;
        if (file >= 0) close(file);
        if (!made) throw std::runtime_error("cannot make the file " + path_ + ": " + std::strerror(why));
    }
    BarrierFile(BarrierFile const&) = delete;
    BarrierFile& operator=(BarrierFile const&) = delete;
    ~BarrierFile() { unlink(path_.c_str()); }
    std::string const& path() const { return path_; }

  private:
    std::string path_;
};

/// Returns the variables that make each MPI treat all peers as if they were on other nodes; each MPI ignores those of
/// the other.
std::vector<std::string> environment_for(Peers peers) {
    std::vector<std::string> added = local_environment();
    if (peers == Peers::network)
        added.insert(added.end(), {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self", "OMPI_MCA_btl_tcp_if_include=lo",
                                   "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"});
    return added;
}

}  // namespace

bool has_memory_probe(std::string const& mpi) {
    return program_for(mpi, k_probe_program).has_value();
}

void read_probe_line(std::string const& line, ProbeRun& run) {
    if (!line.starts_with("{")) return;
    nlohmann::json const row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded()) return;
    if (row.contains("library")) run.library = row.at("library").get<std::string>();
    if (row.contains("complete")) run.complete = true;
    if (!row.contains("phase")) return;
    auto const phase = row.at("phase").get<std::string>();
    if (row.contains("refused")) {
        run.refused[phase] = row.at("refused").get<std::string>();
        return;
    }
    auto const list = [&](char const* field) {
        auto values = row.at(field).get<std::vector<double>>();
        if (values.size() != static_cast<std::size_t>(run.ranks))
            throw std::runtime_error(fmt::format("the probe reports {} of {} ranks in phase {}, but there are {}",
                                                 field, values.size(), phase, run.ranks));
        return values;
    };
    run.phases[phase] = {list("anonymous"), list("shared"), list("files"), list("heap")};
}

ProbeRun launch_memory_probe(ProbeRequest const& request) {
    auto const program = program_for(request.mpi, k_probe_program);
    if (!program)
        throw std::runtime_error(fmt::format("{} for {} is not next to this command; was it built? (make build)",
                                             k_probe_program, request.mpi));
    BarrierFile const barrier;
    std::vector<std::string> command = local_launcher(request.mpi, request.ranks);
    for (std::string const& word :
         {program->string(), std::string("--barrier"), barrier.path(), std::string("--ranks"),
          std::to_string(request.ranks), std::string("--communicators"), std::to_string(request.objects.communicators),
          std::string("--windows"), std::to_string(request.objects.windows), std::string("--window-bytes"),
          std::to_string(request.objects.window_bytes), std::string("--ballast-mib"),
          std::to_string(request.ballast_mib)})
        command.push_back(word);
    ProbeRun run;
    run.ranks = request.ranks;
    std::string wrong;  // kept instead of thrown, because the program must be waited for
    Ended const ended =
        launch(command, environment_for(request.peers), request.limit_seconds, [&](std::string const& line) {
            try {
                read_probe_line(line, run);
            } catch (std::exception const& error) {
                wrong = error.what();
            }
        });
    std::string const who = fmt::format("the probe of {} on {} ranks", request.mpi, request.ranks);
    if (ended.silent && !run.complete)
        throw std::runtime_error(fmt::format("{} printed nothing for {} seconds and was stopped (--limit)\n{}", who,
                                             request.limit_seconds, ended.complaints));
    if (ended.code != 0 && !run.complete)
        throw std::runtime_error(fmt::format("{} ended with code {}\n{}", who, ended.code, ended.complaints));
    if (!wrong.empty() || !run.complete)
        throw std::runtime_error(fmt::format("{}: {}", who, wrong.empty() ? "its output is incomplete" : wrong));
    return run;
}

}  // namespace sluice::cli
