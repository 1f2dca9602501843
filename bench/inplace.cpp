// SPDX-License-Identifier: BSD-3-Clause
// The benchmark `inplace`: all-to-all exchanges in place, by this library and by the MPI library itself, in turns in
// one launch. Prints one JSON object on each line; `sluice bench inplace` launches it and draws the table. Exit code 0;
// 1 for a wrong result or an error.
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groups/agree.hpp"
#include "inplace/exchange.hpp"
#include "mpi/mpi.hpp"
#include "sluice/collectives.hpp"
#include "support/memory.hpp"
#include "support/program.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"

namespace sluice::bench {

namespace {

struct Options {
    std::vector<std::string> cases;
    std::vector<std::uint64_t> bytes{1024, 16000, 65536, 1048576, 10485760};
    int pairs = 7;
    std::string bed = "local";
};

/// One of the two measured libraries: what it does, and its results.
struct Measured {
    std::string method;
    std::vector<double> seconds;
    std::uint64_t resident_bytes = 0;
    std::optional<std::uint64_t> counted_bytes;
    std::uint64_t extra_bytes() const { return std::max(resident_bytes, counted_bytes.value_or(0)); }
};

class Cell {
  public:
    Cell(std::string const& name, std::uint64_t bytes, Options const& options)
        : exchange_(make_exchange(name, MPI_COMM_WORLD, bytes)), cell_{{"bench", "inplace"},
                                                                       {"case", name},
                                                                       {"ranks", mpi::size_of(MPI_COMM_WORLD)},
                                                                       {"bytes", bytes},
                                                                       {"mpi", SLUICE_BENCH_MPI},
                                                                       {"bed", options.bed}} {
        // Small exchanges are timed in batches; a batch has an odd number, so that the blocks are exchanged at its end.
        constexpr std::uint64_t k_sample_bytes = 8 << 20;
        std::uint64_t const all = bytes * static_cast<std::uint64_t>(mpi::size_of(MPI_COMM_WORLD));
        repeats_ = std::clamp<std::uint64_t>(k_sample_bytes / all, 1, 400) | 1;
    }

    void measure(int pairs) {
        Context context(MPI_COMM_WORLD);
        Measured ours{"sluice", {}, 0, 0};
        Measured theirs{"mpi", {}, 0, std::nullopt};
        std::uint64_t staging = 0;
        auto const by_us = [&] { staging = std::max(staging, exchange_->by_sluice(context).staging.count); };
        auto const by_mpi = [&] { exchange_->by_mpi(); };
        ours.resident_bytes = first_call(ours.method, by_us);
        theirs.resident_bytes = first_call(theirs.method, by_mpi);
        for (int round = -1; round < pairs; ++round) {
            double const a = timed(ours.method, by_us);
            double const b = timed(theirs.method, by_mpi);
            if (round < 0) continue;  // a round to warm up
            ours.seconds.push_back(a);
            theirs.seconds.push_back(b);
        }
        ours.counted_bytes = groups::most_of(MPI_COMM_WORLD, staging);
        if (mpi::rank_in(MPI_COMM_WORLD) == 0) print(ours, theirs);
    }

  private:
    /// Returns the growth of resident memory over the first call, on the worst rank.
    template <typename Call>
    std::uint64_t first_call(std::string const& method, Call const& call) {
        exchange_->fill();
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        ResidentWatch const memory;
        call();
        std::uint64_t const grown = memory.peak_growth();
        check(method);
        return groups::most_of(MPI_COMM_WORLD, grown);
    }

    /// Returns the seconds of one call on the slowest rank.
    template <typename Call>
    double timed(std::string const& method, Call const& call) {
        exchange_->fill();
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        double const start = MPI_Wtime();
        for (std::uint64_t i = 0; i < repeats_; ++i)
            call();
        double seconds = (MPI_Wtime() - start) / static_cast<double>(repeats_);
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
        check(method);
        return seconds;
    }

    void check(std::string const& method) {
        std::uint64_t const wrong = groups::sum_of(MPI_COMM_WORLD, exchange_->wrong_words());
        if (wrong != 0)
            throw Error(ErrorCode::internal, cell_.dump() + ": wrong result of " + method + ", " +
                                                 std::to_string(wrong) + " words of 8 bytes differ");
    }

    void print(Measured const& ours, Measured const& theirs) const {
        for (Measured const* result : {&ours, &theirs}) {
            Row row = cell_;
            row["method"] = result->method;
            row["seconds"] = spread_row(result->seconds);
            row["extra_bytes"] = result->extra_bytes();
            if (result->counted_bytes) row["extra_counted"] = *result->counted_bytes;
            row["extra_resident"] = result->resident_bytes;
            row["bytes_moved"] = exchange_->bytes_moved();
            row["outcome"] = "ok";
            print_row(row);
        }
        Row row = cell_;
        row["ratio"] = "sluice/mpi";
        row["time"] = spread_row(pairwise_ratios(ours.seconds, theirs.seconds));
        if (theirs.extra_bytes() > 0)
            row["extra_bytes"] = static_cast<double>(ours.extra_bytes()) / static_cast<double>(theirs.extra_bytes());
        print_row(row);
    }

    std::unique_ptr<Exchange> exchange_;
    Row cell_;
    std::uint64_t repeats_ = 1;
};

void add_options(command_line::CommandLine& line, Options& options) {
    line.option("--case", options.cases, "cases, separated by commas; all without it")
        .separated_by_commas()
        .one_of(exchange_names());
    line.option("--bytes", options.bytes, "bytes of each pair, multiples of 8, separated by commas")
        .separated_by_commas()
        .positive();
    line.option("--pairs", options.pairs, "rounds measured after the warm-up").between(1, 1000);
    line.option("--bed", options.bed, "name of the bed, for the rows");
}

void run(Options& options) {
    if (options.cases.empty()) options.cases = exchange_names();
    for (std::string const& name : options.cases)
        for (std::uint64_t const bytes : options.bytes)
            Cell(name, bytes, options).measure(options.pairs);
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::Options options;
    sluice::command_line::CommandLine line(
        "sluice-bench-inplace",
        "Exchanges blocks in place: this library and the MPI library, side by side (one JSON object on each line)");
    sluice::bench::add_options(line, options);
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
