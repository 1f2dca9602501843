// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench madre`: the five experiments of MADRE's Figure 3 on simulated machines, with the step lower bound.
// There is one launch for each point and method, so that a method that takes too long costs only its own point.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "cli/bench/bench.hpp"
#include "cli/bench/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_madre_program = "sluice-bench-madre";
constexpr int k_wall_exit = 124;

struct MadreOptions {
    std::vector<int> experiments{1, 2, 3, 4, 5};
    std::vector<int> ranks{8, 64, 256};
    std::vector<std::string> methods{"token", "parking", "cyclic"};
    std::uint64_t blocks = 64;
    std::uint64_t block_bytes = 16000;
    std::string platform = "torus";
    std::string network = "wire";
    int wall_seconds = 60;
    double minutes = 10;
    bool json = false;
};

struct Point {
    int experiment;
    int ranks;
    std::uint64_t free_blocks;  ///< the varied quantity of experiment 3
};

/// Experiment 3 keeps the number of ranks (the second one given, or the only one) and reduces the free space.
std::vector<Point> points_of(MadreOptions const& options, int experiment) {
    std::vector<Point> points;
    if (experiment == 3) {
        int const ranks = options.ranks.size() > 1 ? options.ranks[1] : options.ranks.front();
        for (std::uint64_t free = options.blocks / 2; free > 0; free /= 2)
            points.push_back({3, ranks, free});
        points.push_back({3, ranks, 0});
    } else {
        for (int const ranks : options.ranks)
            points.push_back({experiment, ranks, 0});
    }
    return points;
}

class MadreSweep {
  public:
    explicit MadreSweep(MadreOptions const& options)
        : options_(options),
          start_(std::chrono::steady_clock::now()),
          program_(program_for("simgrid", k_madre_program)),
          bed_(bed_script("simulated.sh")) {
        if (!program_)
            throw std::runtime_error(fmt::format(
                "{} is not next to this command; was the simulated build made? (make build)", k_madre_program));
        if (!bed_) throw std::runtime_error("the script of bed simulated is not next to this command");
    }

    int run() {
        int worst = 0;
        for (int const experiment : options_.experiments) {
            slow_.clear();
            if (!options_.json) print_head(experiment);
            for (Point const& point : points_of(options_, experiment))
                worst = std::max(worst, run_point(point));
            if (!options_.json) std::cout << std::endl;
        }
        if (left_out_ > 0)
            std::cerr << fmt::format("sluice: {} runs were left out after {} minutes (--minutes)\n", left_out_,
                                     options_.minutes);
        return worst;
    }

  private:
    void print_head(int experiment) const {
        fmt::print(
            "experiment {} · {} · {} blocks of {} bytes a rank · simulated ms (times the lower bound)\n  {:>5} {:>5} "
            "{:>10}",
            experiment, options_.platform, options_.blocks, options_.block_bytes, "ranks", "free", "bound");
        for (std::string const& method : options_.methods)
            fmt::print("  {:>18}", method);
        fmt::print("\n");
    }

    int run_point(Point const& point) {
        int worst = 0;
        std::string bound;
        std::string free = "–";
        std::string cells;
        for (std::string const& method : options_.methods) {
            std::string cell;
            worst = std::max(worst, run_method(point, method, [&](Row const& row) {
                                 if (row.contains("ratio")) {
                                     cell += fmt::format(" ({:.2f})", row.at("time").at("median").get<double>());
                                     return;
                                 }
                                 if (row.at("outcome") != "ok") {
                                     cell = row.at("outcome").get<std::string>();
                                     return;
                                 }
                                 free = std::to_string(row.at("free_blocks").get<std::uint64_t>());
                                 std::string const milliseconds =
                                     fmt::format("{:.2f}", row.at("seconds").at("median").get<double>() * 1e3);
                                 (row.at("method") == "lower_bound" ? bound : cell) = milliseconds;
                             }));
            cells += fmt::format("  {:>18}", cell);
        }
        if (!options_.json)
            std::cout << fmt::format("  {:>5} {:>5} {:>10}{}", point.ranks, free, bound, cells) << std::endl;
        return worst;
    }

    int run_method(Point const& point, std::string const& method, std::function<void(Row const&)> const& on_row) {
        auto const tell = [&](Row const& row) {
            if (options_.json &&
                !(row.contains("method") && row.at("method") == "lower_bound" && method != options_.methods.front()))
                std::cout << row.dump() << std::endl;
            on_row(row);
        };
        double const minutes = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() / 60;
        if (options_.minutes > 0 && minutes > options_.minutes) {
            ++left_out_;
            tell(outcome_row(point, method, "left out"));
            return 0;
        }
        if (slow_.contains(method)) {
            tell(outcome_row(point, method, "timeout"));
            return 0;
        }
        Ended const ended =
            launch(command_for(point, method), {}, options_.wall_seconds + 60, [&](std::string const& line) {
                Row const row = Row::parse(line, nullptr, false);
                if (line.starts_with("{") && !row.is_discarded()) tell(row);
            });
        if (ended.code == 0) return 0;
        if (ended.code == k_wall_exit || ended.silent) {
            slow_.insert(method);
            tell(outcome_row(point, method, "timeout"));
            return 0;
        }
        std::cerr << fmt::format("sluice: experiment {} by {} on {} ranks ended with code {}\n{}", point.experiment,
                                 method, point.ranks, ended.code, ended.complaints);
        return 1;
    }

    Row outcome_row(Point const& point, std::string const& method, std::string const& outcome) const {
        return Row{{"bench", "madre"},          {"case", fmt::format("experiment{}", point.experiment)},
                   {"ranks", point.ranks},      {"block_bytes", options_.block_bytes},
                   {"blocks", options_.blocks}, {"mpi", "simgrid"},
                   {"bed", "simulated"},        {"platform", options_.platform},
                   {"method", method},          {"outcome", outcome}};
    }

    std::vector<std::string> command_for(Point const& point, std::string const& method) const {
        return {bed_->string(),
                "--platform",
                options_.platform,
                "--network",
                options_.network,
                "--wall",
                std::to_string(options_.wall_seconds),
                "-n",
                std::to_string(point.ranks),
                program_->string(),
                "--experiment",
                std::to_string(point.experiment),
                "--blocks",
                std::to_string(options_.blocks),
                "--free",
                std::to_string(point.free_blocks),
                "--block-bytes",
                std::to_string(options_.block_bytes),
                "--platform",
                options_.platform,
                "--method",
                method};
    }

    MadreOptions const& options_;
    std::chrono::steady_clock::time_point start_;
    std::optional<std::filesystem::path> program_;
    std::optional<std::filesystem::path> bed_;
    std::set<std::string> slow_;  ///< methods that took too long at an easier point of the experiment
    int left_out_ = 0;
};

}  // namespace

int bench_madre(std::vector<std::string> const& arguments) {
    MadreOptions options;
    command_line::CommandLine line(
        "sluice bench madre",
        "The five experiments of MADRE's Figure 3 on simulated machines, with the step lower bound");
    line.option("--experiment", options.experiments, "experiments, by number (all)")
        .separated_by_commas()
        .between(1, 5);
    line.option("--ranks", options.ranks, "numbers of ranks; experiment 3 takes the second (8,64,256)")
        .separated_by_commas()
        .positive();
    line.option("--method", options.methods, "strategies (token,parking,cyclic)").separated_by_commas();
    line.option("--blocks", options.blocks, "blocks on each rank").positive().shows_default();
    line.option("--block", options.block_bytes, "bytes of a block").positive().shows_default();
    line.option("--platform", options.platform, "torus, fattree or dragonfly")
        .one_of({"torus", "fattree", "dragonfly"})
        .shows_default();
    line.option("--network", options.network, "wire (nominal rates) or smpi (SimGrid's factors)")
        .one_of({"wire", "smpi"})
        .shows_default();
    line.option("--wall", options.wall_seconds, "real seconds that one simulation may take").positive().shows_default();
    line.option("--minutes", options.minutes, "begin no simulation after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
    if (!line.parse(arguments)) return 0;
    return MadreSweep(options).run();
}

}  // namespace sluice::cli
