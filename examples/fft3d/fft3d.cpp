// SPDX-License-Identifier: BSD-3-Clause
// The problem FT of the NAS Parallel Benchmarks with transposes of Sluice: in place, so that one array suffices, or
// from one array into another. Any number of ranks.
//
//     mpirun -n 4 fft3d [S|W|A] [in-place|out-of-place]
//
// The exit code is 1 if a checksum is not the published one.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sluice/transpose.hpp"
#include "solver.hpp"

namespace {

using fft3d::Complex;
using fft3d::Problem;
using fft3d::Share;

class PlannedTransposes final : public fft3d::Transposes {
  public:
    PlannedTransposes(sluice::Context& context, Problem const& problem, bool in_place)
        : shape_{{problem.nz, problem.ny, problem.nx}, {sizeof(Complex)}},
          by_planes_(sluice::slabs(0, context.size())),
          by_lines_(sluice::slabs(1, context.size(), {1, 2, 0})),
          planes_(part_of(shape_.extents, by_planes_, context.rank())),
          lines_(part_of(shape_.extents, by_lines_, context.rank())),
          forth_(context, shape_, by_planes_, by_lines_),
          back_(context, shape_, by_lines_, by_planes_),
          array_(std::max(planes_.elements(), lines_.elements())),
          other_(in_place ? 0 : array_.size()) {}

    Share planes() const override { return {planes_.begin[0], planes_.extent(0)}; }
    Share lines() const override { return {lines_.begin[1], lines_.extent(1)}; }
    Complex* data() override { return array_.data(); }
    void forth() override { apply(forth_); }
    void back() override { apply(back_); }

  private:
    void apply(sluice::TransposePlan& plan) {
        if (other_.empty()) {
            plan.apply(array_.data());
            return;
        }
        plan.apply(array_.data(), other_.data());
        std::swap(array_, other_);
    }

    sluice::ArrayShape shape_;
    sluice::ArrayLayout by_planes_;
    sluice::ArrayLayout by_lines_;
    sluice::ArrayPart planes_;
    sluice::ArrayPart lines_;
    sluice::TransposePlan forth_;
    sluice::TransposePlan back_;
    std::vector<Complex> array_;
    std::vector<Complex> other_;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Problem const& problem = fft3d::problem_of(argc, argv);
    bool const in_place = argc < 3 || std::strcmp(argv[2], "out-of-place") != 0;
    int code = 0;
    {
        sluice::Context context(MPI_COMM_WORLD);
        PlannedTransposes transposes(context, problem, in_place);
        code = solve(problem, transposes, in_place ? "transposes in place" : "transposes into a second array");
    }
    MPI_Finalize();
    return code;
}
