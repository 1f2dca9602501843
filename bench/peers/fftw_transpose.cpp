// SPDX-License-Identifier: BSD-3-Clause
// Transposes of slabs by FFTW's MPI library (fftw_mpi_plan_many_transpose) and by this one, in turns in one launch, in
// place and into another array. Every element is compared. Prints one JSON object on each line:
//
//     mpirun -n 4 sluice-bench-transpose-fftw --extents 256,256,256 --pairs 7
//
// Exit code 0; 1 if the two arrays differ.
#include <fftw3-mpi.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "groups/agree.hpp"
#include "mpi/mpi.hpp"
#include "sluice/transpose.hpp"
#include "support/program.hpp"
#include "support/rows.hpp"
#include "support/statistics.hpp"
#include "support/wire.hpp"

namespace sluice::bench {

namespace {

using Complex = std::complex<double>;

struct Options {
    std::vector<std::uint64_t> extents{256, 256, 128};
    std::int64_t extent(std::size_t axis) const { return static_cast<std::int64_t>(extents[axis]); }
    int pairs = 7;
    std::string rigor = "estimate";
    std::string bed = "local";
    double rate_mbit = 0;
};

class Pair {
  public:
    Pair(Options const& options, bool in_place)
        : options_(options),
          in_place_(in_place),
          context_(MPI_COMM_WORLD),
          shape_{{options.extent(0), options.extent(1), options.extent(2)}, {sizeof(Complex)}},
          planes_(slabs(0, context_.size())),
          lines_(slabs(1, context_.size(), {1, 0, 2})) {
        // FFTW's parts.
        std::int64_t const ranks = context_.size();
        planes_.block[0] = (options.extent(0) + ranks - 1) / ranks;
        lines_.block[1] = (options.extent(1) + ranks - 1) / ranks;
        had_ = part_of(shape_.extents, planes_, context_.rank()).elements();
        has_ = part_of(shape_.extents, lines_, context_.rank()).elements();
        std::size_t const most = std::max(had_, has_) + 1;
        for (std::vector<Complex>* array : {&ours_, &theirs_})
            array->resize(most);
        for (std::vector<Complex>* array : {&ours_to_, &theirs_to_})
            if (!in_place) array->resize(most);
    }

    void measure() {
        TransposePlan plan(context_, shape_, planes_, lines_);
        fftw_plan const peer = fftw_mpi_plan_many_transpose(
            options_.extent(0), options_.extent(1), 2 * options_.extent(2), FFTW_MPI_DEFAULT_BLOCK,
            FFTW_MPI_DEFAULT_BLOCK, as_doubles(theirs_), as_doubles(in_place_ ? theirs_ : theirs_to_), MPI_COMM_WORLD,
            options_.rigor == "measure" ? FFTW_MEASURE : FFTW_ESTIMATE);
        std::vector<double> by_us;
        std::vector<double> by_fftw;
        for (int round = -1; round < options_.pairs; ++round) {
            fill(ours_);
            double const a = timed([&] { report_ = plan.apply(ours_.data(), (in_place_ ? ours_ : ours_to_).data()); });
            fill(theirs_);
            double const b = timed([&] { fftw_execute(peer); });
            compare();
            if (round < 0) continue;  // a round to warm up
            by_us.push_back(a);
            by_fftw.push_back(b);
        }
        fftw_destroy_plan(peer);
        wire_bytes_ = busiest_node_bytes(MPI_COMM_WORLD, sent());
        if (context_.rank() == 0) print(by_us, by_fftw);
    }

  private:
    static double* as_doubles(std::vector<Complex>& array) { return reinterpret_cast<double*>(array.data()); }
    void fill(std::vector<Complex>& array) const {
        for (std::size_t i = 0; i < had_; ++i)
            array[i] = {static_cast<double>(context_.rank()), static_cast<double>(i)};
    }
    template <typename Call>
    static double timed(Call const& call) {
        mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        double const start = MPI_Wtime();
        call();
        double seconds = MPI_Wtime() - start;
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
        return seconds;
    }
    void compare() {
        std::vector<Complex> const& a = in_place_ ? ours_ : ours_to_;
        std::vector<Complex> const& b = in_place_ ? theirs_ : theirs_to_;
        bool const same = std::memcmp(a.data(), b.data(), has_ * sizeof(Complex)) == 0;
        if (!groups::all_true(MPI_COMM_WORLD, same))
            throw Error(ErrorCode::internal, "the transposes of FFTW and of this library differ");
    }
    /// The bytes that this rank sends to each.
    std::vector<double> sent() const {
        std::int64_t const planes = part_of(shape_.extents, planes_, context_.rank()).extent(0);
        std::vector<double> bytes;
        for (int rank = 0; rank < context_.size(); ++rank) {
            std::int64_t const lines = part_of(shape_.extents, lines_, rank).extent(1);
            bytes.push_back(static_cast<double>(planes * lines * options_.extent(2)) * sizeof(Complex));
        }
        return bytes;
    }
    void print(std::vector<double> const& by_us, std::vector<double> const& by_fftw) const {
        Row const cell{{"bench", "transpose"},
                       {"case", in_place_ ? "in_place" : "out_of_place"},
                       {"ranks", context_.size()},
                       {"mpi", SLUICE_BENCH_MPI},
                       {"bed", options_.bed},
                       {"bytes_per_rank", had_ * sizeof(Complex)},
                       {"staging", report_.staging.count}};
        auto const row = [&](std::string const& method, std::vector<double> const& seconds) {
            Row line = cell;
            line["method"] = method;
            line["seconds"] = spread_row(seconds);
            if (options_.rate_mbit > 0)
                line["wire_fraction"] = wire_bytes_ / spread_of(seconds).median / payload_rate(options_.rate_mbit);
            print_row(line);
        };
        row("sluice", by_us);
        row("fftw_" + options_.rigor, by_fftw);
        Row line = cell;
        line["ratio"] = "sluice/fftw_" + options_.rigor;
        line["time"] = spread_row(pairwise_ratios(by_us, by_fftw));
        print_row(line);
    }

    Options const& options_;
    bool in_place_;
    Context context_;
    ArrayShape shape_;
    ArrayLayout planes_;
    ArrayLayout lines_;
    std::size_t had_ = 0;
    std::size_t has_ = 0;
    double wire_bytes_ = 0;
    TransposeReport report_;  // of the last one
    std::vector<Complex> ours_;
    std::vector<Complex> theirs_;
    std::vector<Complex> ours_to_;
    std::vector<Complex> theirs_to_;
};

void run(Options const& options) {
    if (options.extents.size() != 3) throw Error(ErrorCode::invalid_argument, "--extents are three numbers");
    fftw_mpi_init();
    for (bool const in_place : {true, false})
        Pair(options, in_place).measure();
    fftw_mpi_cleanup();
}

}  // namespace

}  // namespace sluice::bench

int main(int argc, char** argv) {
    sluice::bench::Options options;
    sluice::command_line::CommandLine line(
        "sluice-bench-transpose-fftw",
        "Transposes slabs by this library and by FFTW's, side by side (one JSON object on each line)");
    line.option("--extents", options.extents, "elements along the three axes").separated_by_commas().positive();
    line.option("--pairs", options.pairs, "rounds measured after the warm-up").between(1, 1000);
    line.option("--rigor", options.rigor, "how FFTW plans").one_of({"estimate", "measure"});
    line.option("--bed", options.bed, "name of the bed, for the rows");
    line.option("--rate", options.rate_mbit, "Mbit/s of the bed's wire; 0: no wire");
    return sluice::bench::run_program(argc, argv, line, [&] { sluice::bench::run(options); });
}
