// SPDX-License-Identifier: BSD-3-Clause
/// Transposes of Sluice, each planned once: in place, or into a second array.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sluice/transpose.hpp"
#include "solver.hpp"

namespace fft3d {

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

}  // namespace fft3d
