// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench fluctuation`: the case study of Y. Shi, G. Zheng and L. V. Kale (2007), section 4.1, on its beds.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/bench/fluctuation/plan.hpp"
#include "cli/bench/fluctuation/table.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/limited_bed.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_fluctuation_program = "sluice-bench-fluctuation";
constexpr std::size_t k_curve_points = 400;

struct FluctuationOptions {
    FluctuationChoice choice;
    double rate_mbit = 1000;
    int swap_mib = 1024;
    int limit_seconds = 30;
    double minutes = 8;
    bool curves = false;
    bool json = false;
};

/// Identifies a method on one size: its rows without a limit are compared with its rows under one.
std::string same_work(Row const& row) {
    return fmt::format("{} {} {} {} {} {}", row.at("case").get<std::string>(), row.at("mpi").get<std::string>(),
                       row.at("ranks").get<int>(), row.at("base_mib").get<double>(), row.at("edge").get<int>(),
                       row.at("deal").get<std::string>());
}

class FluctuationSweep {
  public:
    explicit FluctuationSweep(FluctuationOptions const& options) : options_(options) {}

    int run(std::vector<FluctuationLaunch> const& launches) {
        return run_cells(launches.size(), options_.minutes, [&](std::size_t at) {
            return launches[at].node_mib > 0 ? run_limited(launches[at]) : run_free(launches[at]);
        });
    }

  private:
    struct Result {
        std::vector<Row> rows;
        int steps_done = 0;
        Ended ended;
    };

    static bool is_wired(FluctuationLaunch const& what) { return what.bed == "cluster" || what.nodes > 1; }

    Result start(FluctuationLaunch const& what, std::vector<std::string> command, int silence_seconds) const {
        command.insert(command.end(), {bench_program(what.mpi, k_fluctuation_program), "--case", what.name, "--bed",
                                       what.bed, "--pairs", std::to_string(what.pairs)});
        if (is_wired(what)) command.insert(command.end(), {"--rate", fmt::format("{}", options_.rate_mbit)});
        if (what.bed == "simulated")
            command.insert(command.end(), {"--compute-us", fmt::format("{}", what.compute_us)});
        if (what.name != "micro")
            command.insert(command.end(), {"--method", fmt::format("{}", fmt::join(what.methods, ",")), "--cubes",
                                           fmt::format("{}", fmt::join(what.cubes, ",")), "--edge",
                                           std::to_string(what.edge), "--deal", what.deal, "--steps",
                                           std::to_string(what.steps), "--warm-up", std::to_string(what.warm_up)});
        if (what.node_mib > 0) command.emplace_back("--tell-steps");
        if (what.neighbour_mib > 0)
            command.insert(command.end(),
                           {"--neighbour-bytes", std::to_string(static_cast<std::uint64_t>(what.neighbour_mib) << 20)});
        Result result;
        result.ended = launch(command, launch_environment(), silence_seconds, [&](std::string const& line) {
            if (!line.starts_with("{")) return;
            Row row = Row::parse(line, nullptr, false);
            if (row.is_discarded()) return;
            if (row.contains("step"))
                result.steps_done = row.at("step").get<int>();
            else
                result.rows.push_back(std::move(row));
        });
        return result;
    }

    std::vector<std::string> launcher_for(FluctuationLaunch const& what) const {
        if (is_wired(what)) return cluster_launcher(what.mpi, what.ranks, options_.rate_mbit);
        if (what.bed != "simulated") return local_launcher(what.mpi, what.ranks);
        auto const script = bed_script("simulated.sh");
        if (!script) throw std::runtime_error("the script of bed " + what.bed + " is not next to this command");
        return {
            script->string(),          "--wall", std::to_string(10 * options_.limit_seconds), "--poll", "5e-6", "-n",
            std::to_string(what.ranks)};
    }

    int run_free(FluctuationLaunch const& what) {
        Result const result = start(what, launcher_for(what), 10 * options_.limit_seconds);
        for (Row const& row : result.rows)
            if (row.contains("checksum")) without_limit_[same_work(row)][fluctuation_method(row)] = row;
        tell(result.rows);
        if (result.ended.code == 0) return 0;
        return complain(what, result.ended);
    }

    int run_limited(FluctuationLaunch const& what) {
        LimitedRun::Limits limits;
        limits.node_mib = what.node_mib;
        limits.nodes = what.nodes;
        limits.swap_mib = options_.swap_mib;
        limits.seconds = options_.limit_seconds * what.time_limits;
        limits.processes = what.ranks;
        limits.samples = options_.curves;
        LimitedRun const bed(limits);
        std::vector<std::string> command = bed.prefix();
        for (std::string const& word : launcher_for(what))
            command.push_back(word);
        Result result = start(what, command, static_cast<int>(limits.seconds) + 60);
        nlohmann::json const report = bed.report();
        if (report.is_null()) return complain(what, result.ended);
        std::string const outcome = report.at("outcome").get<std::string>();
        if (outcome == "failed") return complain(what, result.ended);
        if (outcome != "ok") result.rows = {row_of_the_dead(what, outcome, result.steps_done)};
        for (Row& row : result.rows)
            if (row.contains("method")) {
                add_node(row, what, report);
                if (options_.curves) add_curve(row, bed);
            }
        int code = 0;
        if (outcome == "ok" && what.after_one_without_limit) code = compare(result.rows);
        tell(result.rows);
        return code;
    }

    Row row_of_the_dead(FluctuationLaunch const& what, std::string const& outcome, int steps_done) const {
        double const points = what.edge * what.edge * what.edge;
        int const cubes = what.cubes[0] * what.cubes[1] * what.cubes[2];
        Row row{{"bench", "fluctuation"}, {"case", what.name},
                {"ranks", what.ranks},    {"mpi", what.mpi},
                {"bed", what.bed},        {"base_mib", 2 * sizeof(double) * points * cubes / what.ranks / (1 << 20)},
                {"cubes", cubes},         {"edge", what.edge},
                {"deal", what.deal}};
        std::string const& method = what.methods.front();
        std::size_t const colon = method.find(':');
        row["method"] = method.substr(0, colon);
        if (colon != std::string::npos) {
            std::string const settings = method.substr(colon + 1);
            if (settings.starts_with("tokens=")) row["tokens"] = std::stoi(settings.substr(7));
            row["settings"] = settings;
        }
        row["steps"] = what.steps;
        row["steps_done"] = steps_done;
        row["outcome"] = outcome;
        return row;
    }

    void add_node(Row& row, FluctuationLaunch const& what, nlohmann::json const& report) const {
        row["node_bytes"] = static_cast<std::uint64_t>(what.node_mib) << 20;
        row["swap_bytes"] = report.at("swap_bytes");
        row["limited_by"] = report.at("limit");
        row["node_peak_bytes"] = report.at("peak_held_bytes");
        row["node_major_faults"] = report.at("major_faults");
    }

    static void add_curve(Row& row, LimitedRun const& bed) {
        Row seconds = Row::array();
        Row mib = Row::array();
        for (auto const& [at, held] : bed.curve(k_curve_points)) {
            seconds.push_back(std::round(at * 1e4) / 1e4);
            mib.push_back(std::round(held * 1e2) / 1e2);
        }
        row["curve"] = Row{{"seconds", seconds}, {"mib", mib}};
    }

    /// Compares with the launch without a limit: the results must be the same bits; the time is shown next to it.
    int compare(std::vector<Row>& rows) {
        std::vector<Row> ratios;
        for (Row const& row : rows) {
            if (!row.contains("checksum")) continue;
            auto const& known = without_limit_[same_work(row)];
            auto const own = known.find(fluctuation_method(row));
            if (own == known.end()) continue;
            if (own->second.at("checksum") != row.at("checksum")) {
                std::cerr << fmt::format("sluice: {} left different bits in a small node than without a limit\n",
                                         fluctuation_method(row));
                return 1;
            }
            double const free = own->second.at("seconds").at("median").get<double>();
            Row ratio = row;
            for (char const* const field :
                 {"method", "seconds", "checksum", "outcome", "curve", "extra_bytes", "extra_counted", "extra_resident",
                  "bytes_moved", "major_faults", "bytes_per_rank", "updates_per_second_per_rank"})
                ratio.erase(field);
            std::string const name = row.at("method").get<std::string>();
            ratio["ratio"] = name + "/" + name + "_without_limit";
            for (char const* const which : {"min", "median", "max"})
                ratio["time"][which] = row.at("seconds").at(which).get<double>() / free;
            ratios.push_back(ratio);
        }
        rows.insert(rows.end(), ratios.begin(), ratios.end());
        return 0;
    }

    void tell(std::vector<Row> const& rows) {
        if (rows.empty()) return;
        if (options_.json) {
            for (Row const& row : rows)
                std::cout << row.dump() << std::endl;
            return;
        }
        std::string const head = fluctuation_head(rows.front());
        if (head != head_) std::cout << (head_.empty() ? "" : "\n") << head;
        head_ = head;
        std::cout << fluctuation_lines(rows) << std::flush;
    }

    static int complain(FluctuationLaunch const& what, Ended const& ended) {
        std::cerr << fmt::format("sluice: {} {} on {} ranks, bed {}, {}\n{}", what.mpi, what.name, what.ranks, what.bed,
                                 ended.silent ? "hung and was stopped" : fmt::format("ended with code {}", ended.code),
                                 ended.complaints);
        return 1;
    }

    FluctuationOptions const& options_;
    std::map<std::string, std::map<std::string, Row>> without_limit_;  ///< by same_work, by method
    std::string head_;
};

void add_options(command_line::CommandLine& line, FluctuationOptions& options) {
    FluctuationChoice& choice = options.choice;
    line.option("--case", choice.cases,
                "jacobi7, jacobi13, micro, policies, adaptation, outofcore (all that the bed can)")
        .separated_by_commas();
    line.option("--bed", choice.beds, "local, limited, cluster, limited_cluster, simulated (local, limited)")
        .separated_by_commas()
        .one_of({"local", "limited", "cluster", "limited_cluster", "simulated"});
    line.option("--mpi", choice.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--ranks", choice.ranks, "numbers of ranks (2; simulated 512)").separated_by_commas();
    line.option("--method", choice.methods,
                "at_once, cube_by_cube, fetch, send, paged, compute, exchange, each with :SETTING=VALUE… if needed")
        .separated_by_commas();
    line.option("--tokens", choice.tokens, "numbers of tokens of one message each (2,4,8,16)").separated_by_commas();
    line.option("--base", choice.base_mib, "MiB of cubes on each rank (80; cluster 24; limited 64 to 112)")
        .separated_by_commas()
        .positive();
    line.option("--edge", choice.edge, "points of a cube along each axis").between(4, 256).shows_default();
    line.option("--node", choice.node_mib,
                "MiB of the node of bed limited, or of the two of limited_cluster; for adaptation 8/3 of it")
        .positive()
        .shows_default();
    line.option("--swap", options.swap_mib, "MiB of swap of the limited nodes; 0: none").not_negative().shows_default();
    line.flag("--curves", options.curves, "rows of bed limited hold the node's memory over time");
    line.option("--rate", options.rate_mbit, "Mbit/s of each wire of bed cluster").positive().shows_default();
    line.option("--compute-us", choice.compute_us, "bed simulated: microseconds that a cube's step takes to compute")
        .not_negative()
        .shows_default();
    line.option("--steps", choice.steps, "steps that are measured each time a method runs")
        .between(1, 100000)
        .shows_default();
    line.option("--pairs", choice.pairs, "rounds after the warm-up; in each, every method runs once")
        .between(1, 1000)
        .shows_default();
    line.option("--limit", options.limit_seconds, "seconds that a run in a small node may take")
        .between(1, 100000)
        .shows_default();
    line.option("--minutes", options.minutes, "begin no launch after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
}

}  // namespace

int bench_fluctuation(std::vector<std::string> const& arguments) {
    static constexpr std::string_view cases[] = {"jacobi7", "jacobi13", "micro", "policies", "adaptation", "outofcore"};
    FluctuationOptions options;
    command_line::CommandLine line("sluice bench fluctuation",
                                   "A relaxation over many small cubes on each rank: all ghost faces at once, cube by "
                                   "cube, or fetched under tokens");
    add_options(line, options);
    if (!line.parse(arguments)) return 0;
    FluctuationChoice const& choice = options.choice;
    for (std::string const& name : choice.cases)
        if (std::find(std::begin(cases), std::end(cases), name) == std::end(cases)) throw unknown("case", name, cases);
    check_bench_choice(choice.mpis, choice.ranks);
    bool const only_simulated = choice.beds == std::vector<std::string>{"simulated"};
    std::vector<std::string> const mpis =
        !choice.mpis.empty() ? choice.mpis : mpis_with_program(k_fluctuation_program, only_simulated);
    std::vector<FluctuationLaunch> const launches = plan_fluctuation(choice, mpis);
    if (launches.empty()) throw UsageError("no such case can be run on this bed; --help lists them");
    return FluctuationSweep(options).run(launches);
}

}  // namespace sluice::cli
