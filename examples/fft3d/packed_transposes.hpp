// SPDX-License-Identifier: BSD-3-Clause
/// Transposes as MPI programs have them: pack, MPI_Alltoall, unpack. They need a second array. The number of ranks
/// divides nz and ny.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "solver.hpp"

namespace fft3d {

class PackedTransposes final : public fft3d::Transposes {
  public:
    PackedTransposes(Problem const& problem, int rank, int ranks)
        : nx_(problem.nx),
          ny_(problem.ny),
          nz_(problem.nz),
          ranks_(ranks),
          planes_{rank * nz_ / ranks, nz_ / ranks},
          lines_{rank * ny_ / ranks, ny_ / ranks},
          array_(static_cast<std::size_t>(problem.elements() / ranks)),
          other_(array_.size()) {}

    Share planes() const override { return planes_; }
    Share lines() const override { return lines_; }
    Complex* data() override { return array_.data(); }

    void forth() override {
        Complex* out = other_.data();
        for (int to = 0; to < ranks_; ++to)
            for (std::int64_t z = 0; z < planes_.count; ++z)
                out = std::copy_n(array_.data() + (z * ny_ + to * lines_.count) * nx_, lines_.count * nx_, out);
        exchange(other_, array_);
        for (std::int64_t z = 0; z < nz_; ++z)
            for (std::int64_t line = 0; line < lines_.count * nx_; ++line)
                other_[index(line * nz_ + z)] = array_[index(z * lines_.count * nx_ + line)];
        std::swap(array_, other_);
    }
    void back() override {
        for (std::int64_t z = 0; z < nz_; ++z)
            for (std::int64_t line = 0; line < lines_.count * nx_; ++line)
                other_[index(z * lines_.count * nx_ + line)] = array_[index(line * nz_ + z)];
        exchange(other_, array_);
        Complex const* in = array_.data();
        for (int from = 0; from < ranks_; ++from)
            for (std::int64_t z = 0; z < planes_.count; ++z, in += lines_.count * nx_)
                std::copy_n(in, lines_.count * nx_, other_.data() + (z * ny_ + from * lines_.count) * nx_);
        std::swap(array_, other_);
    }

  private:
    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
    void exchange(std::vector<Complex> const& from, std::vector<Complex>& to) const {
        int const count = static_cast<int>(planes_.count * lines_.count * nx_);
        MPI_Alltoall(from.data(), count, MPI_C_DOUBLE_COMPLEX, to.data(), count, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    }

    std::int64_t nx_;
    std::int64_t ny_;
    std::int64_t nz_;
    int ranks_;
    Share planes_;
    Share lines_;
    std::vector<Complex> array_;
    std::vector<Complex> other_;
};

}  // namespace fft3d
