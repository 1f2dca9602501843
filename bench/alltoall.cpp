// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `alltoall`: all-to-alls from one buffer into another, by the MPI library itself, by each algorithm of
// this library and by the choice of its rule, in turns in one launch. Prints one JSON object on each line; `sluice
// bench alltoall` launches it and draws the table. Exit code 0; 1 for a wrong result or an error.
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/buffers.hpp"
#include "groups/agree.hpp"
#include "mpi/mpi.hpp"
#include "sluice/alltoall.hpp"
#include "support/memory.hpp"
#include "support/program.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"

namespace sluice::bench {

namespace {

std::vector<std::string> const k_cases{"alltoall", "alltoallv"};
std::vector<std::string> const k_buffers{"warm", "cold"};

struct Options {
    std::vector<std::string> cases;
    std::vector<std::string> buffers;
    std::vector<std::uint64_t> bytes{8, 64, 512, 4096, 16384, 65536, 1048576, 16777216};
    int pairs = 7;
    std::string bed = "local";
};

/// One of the ways that take turns, and its results.
struct Way {
    std::string method;
    std::function<AlltoallOutcome()> call;
    std::vector<double> seconds;
    std::uint64_t resident_bytes = 0;
    AlltoallOutcome outcome;
};

class Cell {
  public:
    Cell(std::string const& name, std::string const& buffers, std::uint64_t bytes, Options const& options)
        : buffers_(MPI_COMM_WORLD, bytes, name == "alltoallv"),
          is_varied_(name == "alltoallv"),
          is_cold_(buffers == "cold"),
          context_(MPI_COMM_WORLD),
          cell_{{"bench", "alltoall"}, {"case", name},       {"ranks", mpi::size_of(MPI_COMM_WORLD)},
                {"bytes", bytes},      {"buffers", buffers}, {"mpi", SLUICE_BENCH_MPI},
                {"bed", options.bed}} {
        constexpr std::uint64_t k_sample_bytes = 8 << 20;
        std::uint64_t const all = bytes * static_cast<std::uint64_t>(mpi::size_of(MPI_COMM_WORLD));
        if (!is_cold_) repeats_ = std::clamp<std::uint64_t>(k_sample_bytes / std::max<std::uint64_t>(1, all), 1, 400);
        ways_.push_back({"mpi", [this] { return by_mpi(); }, {}, 0, {}});
        for (AlltoallAlgorithm const algorithm :
             {AlltoallAlgorithm::log_step, AlltoallAlgorithm::window, AlltoallAlgorithm::pull})
            add(std::string(name_of(algorithm)), algorithm);
        add("auto", std::nullopt);
        add_plan("plan", std::nullopt);
        add_plan("measured", AlltoallAlgorithm::measured);
    }

    void measure(int pairs) {
        for (Way& way : ways_)
            way.resident_bytes = first_call(way);
        // An algorithm that does not serve this cell gave way to the window.
        std::erase_if(ways_, [](Way const& way) {
            return way.method == "log_step" && way.outcome.algorithm != AlltoallAlgorithm::log_step;
        });
        end_trials();
        for (int round = -1; round < pairs; ++round)
            for (Way& way : ways_) {
                double const seconds = timed(way);
                if (round >= 0) way.seconds.push_back(seconds);  // the first round warms up
            }
        if (mpi::rank_in(MPI_COMM_WORLD) == 0) print();
    }

  private:
    AlltoallOutcome by_mpi() {
        BlockList const& out = buffers_.leaving();
        BlockList const& in = buffers_.coming();
        if (is_varied_)
            mpi::check(MPI_Alltoallv(buffers_.from(), out.narrow_counts.data(), out.narrow_places.data(), MPI_UINT64_T,
                                     buffers_.to(), in.narrow_counts.data(), in.narrow_places.data(), MPI_UINT64_T,
                                     MPI_COMM_WORLD),
                       "MPI_Alltoallv");
        else
            mpi::check(MPI_Alltoall(buffers_.from(), out.narrow_counts[0], MPI_UINT64_T, buffers_.to(),
                                    in.narrow_counts[0], MPI_UINT64_T, MPI_COMM_WORLD),
                       "MPI_Alltoall");
        return {};
    }

    void add(std::string const& method, std::optional<AlltoallAlgorithm> algorithm) {
        AlltoallOptions options;
        options.algorithm = algorithm;
        ways_.push_back({method,
                         [this, options] {
                             BlockList const& out = buffers_.leaving();
                             BlockList const& in = buffers_.coming();
                             if (is_varied_)
                                 return alltoallv(context_, buffers_.from(), out.counts, out.places, MPI_UINT64_T,
                                                  buffers_.to(), in.counts, in.places, MPI_UINT64_T, options);
                             return alltoall(context_, buffers_.from(), out.counts[0], MPI_UINT64_T, buffers_.to(),
                                             in.counts[0], MPI_UINT64_T, options);
                         },
                         {},
                         0,
                         {}});
    }
    void add_plan(std::string const& method, std::optional<AlltoallAlgorithm> algorithm) {
        AlltoallOptions options;
        options.algorithm = algorithm;
        BlockList const& out = buffers_.leaving();
        BlockList const& in = buffers_.coming();
        AlltoallPlan& plan = plans_.emplace_back(
            is_varied_ ? AlltoallPlan(context_, out.counts, out.places, MPI_UINT64_T, in.counts, in.places,
                                      MPI_UINT64_T, options)
                       : AlltoallPlan(context_, out.counts[0], MPI_UINT64_T, in.counts[0], MPI_UINT64_T, options));
        ways_.push_back({method, [this, &plan] { return plan.apply(buffers_.from(), buffers_.to()); }, {}, 0, {}});
    }
    /// A plan that measures decides before it is measured.
    void end_trials() {
        while (plans_.back().algorithm() == AlltoallAlgorithm::measured)
            static_cast<void>(timed(ways_.back()));
    }

    void prepare() {
        if (is_cold_) buffers_.make_fresh();
        buffers_.fill(!is_cold_);
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    }

    /// Returns the memory beyond both buffers that the first call takes, on the worst rank: of pages that are there.
    std::uint64_t first_call(Way& way) {
        buffers_.fill(true);
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        ResidentWatch const memory;
        way.outcome = way.call();
        std::uint64_t const grown = memory.peak_growth();
        check(way);
        return groups::most_of(MPI_COMM_WORLD, grown);
    }

    /// Returns the seconds of one call on the slowest rank.
    double timed(Way& way) {
        prepare();
        double const start = MPI_Wtime();
        for (std::uint64_t i = 0; i < repeats_; ++i)
            way.outcome = way.call();
        double seconds = (MPI_Wtime() - start) / static_cast<double>(repeats_);
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
        check(way);
        return seconds;
    }

    void check(Way const& way) {
        std::uint64_t const wrong = groups::sum_of(MPI_COMM_WORLD, buffers_.wrong_words());
        if (wrong != 0)
            throw Error(ErrorCode::internal, cell_.dump() + ": wrong result of " + way.method + ", " +
                                                 std::to_string(wrong) + " words of 8 bytes differ");
    }

    void print() const {
        for (Way const& way : ways_) {
            Row row = cell_;
            row["method"] = way.method;
            if (way.method != "mpi") row["algorithm"] = name_of(way.outcome.algorithm);
            row["seconds"] = spread_row(way.seconds);
            row["extra_bytes"] = std::max(way.resident_bytes, way.outcome.staging.count);
            if (way.method != "mpi") row["extra_counted"] = way.outcome.staging.count;
            row["extra_resident"] = way.resident_bytes;
            row["bytes_moved"] = buffers_.bytes_moved();
            row["outcome"] = "ok";
            print_row(row);
        }
        for (Way const& way : ways_) {
            if (way.method == "mpi") continue;
            print_ratio(way.method + "/mpi", way.seconds, ways_.front().seconds);
            if (chooses(way)) print_ratio(way.method + "/best", way.seconds, best());
        }
    }
    void print_ratio(std::string const& name, std::vector<double> const& ours,
                     std::vector<double> const& theirs) const {
        Row row = cell_;
        row["ratio"] = name;
        row["time"] = spread_row(pairwise_ratios(ours, theirs));
        print_row(row);
    }

    static bool chooses(Way const& way) {
        return way.method == "auto" || way.method == "plan" || way.method == "measured";
    }
    /// The times of the way with the least median, but for the rule's own choices.
    std::vector<double> const& best() const {
        Way const* found = &ways_.front();
        for (Way const& way : ways_)
            if (!chooses(way) && spread_of(way.seconds).median < spread_of(found->seconds).median) found = &way;
        return found->seconds;
    }

    Buffers buffers_;
    bool is_varied_;
    bool is_cold_;
    Context context_;
    std::list<AlltoallPlan> plans_;
    Row cell_;
    std::vector<Way> ways_;
    std::uint64_t repeats_ = 1;
};

void add_options(command_line::CommandLine& line, Options& options) {
    line.option("--case", options.cases, "cases, separated by commas; all without it")
        .separated_by_commas()
        .one_of(k_cases);
    line.option("--buffers", options.buffers, "warm, cold; both without it").separated_by_commas().one_of(k_buffers);
    line.option("--bytes", options.bytes, "bytes of each pair, multiples of 8, separated by commas")
        .separated_by_commas()
        .positive();
    line.option("--pairs", options.pairs, "rounds measured after the warm-up").between(1, 1000);
    line.option("--bed", options.bed, "name of the bed, for the rows");
}

void run(Options& options) {
    if (options.cases.empty()) options.cases = k_cases;
    if (options.buffers.empty()) options.buffers = k_buffers;
    for (std::uint64_t const bytes : options.bytes)
        if (bytes % sizeof(std::uint64_t) != 0)
            throw Error(ErrorCode::invalid_argument,
                        "--bytes takes multiples of 8, and " + std::to_string(bytes) + " is none");
    for (std::string const& name : options.cases)
        for (std::string const& buffers : options.buffers)
            for (std::uint64_t const bytes : options.bytes)
                Cell(name, buffers, bytes, options).measure(options.pairs);
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::Options options;
    sluice::command_line::CommandLine line(
        "sluice-bench-alltoall",
        "Exchanges blocks from one buffer into another: the MPI library, each algorithm of this library and its choice "
        "(one JSON object on each line)");
    sluice::bench::add_options(line, options);
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
