// SPDX-License-Identifier: BSD-3-Clause
/// Transposes by streamed exchanges: parts are made when they are asked for, and put into place as they come. Planes go
/// in rounds, and the memory of what has left in one round holds what comes in the next:
///
///     planes [z][y][x]   | gone |round| . . . . . |        lines [z][y][x]   | . | here |round| . . | here |round| . .
///     |
///
/// So two arrays have addresses, and one array and a round have memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "sluice/exchange.hpp"
#include "solver.hpp"

namespace fft3d {

/// An array whose pages can be given back one by one. They are zero when they are used again.
class PagedOutArray {
  public:
    explicit PagedOutArray(std::int64_t elements) : bytes_(static_cast<std::size_t>(elements) * sizeof(Complex)) {
        void* const place = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<Complex*>(place);
    }
    ~PagedOutArray() { munmap(data_, bytes_); }
    PagedOutArray(PagedOutArray const&) = delete;
    PagedOutArray& operator=(PagedOutArray const&) = delete;

    Complex* data() const { return data_; }
    /// Elements from `first` on are not needed any more. Pages that they share with others stay.
    void give_back(std::int64_t first, std::int64_t count) const {
        auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
        auto const begin = (reinterpret_cast<std::uintptr_t>(data_ + first) + page - 1) / page * page;
        auto const end = reinterpret_cast<std::uintptr_t>(data_ + first + count) / page * page;
        if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }

  private:
    std::size_t bytes_;
    Complex* data_;
};

class StreamedTransposes final : public fft3d::Transposes {
  public:
    StreamedTransposes(sluice::Context& context, Problem const& problem)
        : context_(context),
          nx_(problem.nx),
          ny_(problem.ny),
          nz_(problem.nz),
          planes_(planes_of(context.rank())),
          lines_(lines_of(context.rank())),
          rounds_(rounds_of(problem.nx * problem.ny * problem.nz, context.size())),
          array_(std::max(planes_.count * ny_, lines_.count * nz_) * nx_),
          other_(std::max(planes_.count * ny_, lines_.count * nz_) * nx_),
          plan_(context) {}

    Share planes() const override { return planes_; }
    Share lines() const override { return lines_; }
    LineOrder line_order() const override { return LineOrder::z_outermost; }
    Complex* data() override { return (transposed_ ? other_ : array_).data(); }
    double message_mib() const override { return message_mib_; }

    void forth() override {
        for (int round = 0; round < rounds_; ++round) {
            Share const mine = in_round(context_.rank(), round);
            std::vector<sluice::OutgoingPart> parts;
            parts.reserve(static_cast<std::size_t>(context_.size()));
            for (int to = 0; to < context_.size(); ++to)
                parts.push_back({to, {}, bytes_of(mine, lines_of(to)), [this, mine, to](std::span<std::byte> out) {
                                     pack_planes(mine, lines_of(to), out.data());
                                 }});
            exchange(parts, [this, round](int from, std::span<std::byte const> part) {
                std::memcpy(line(in_round(from, round).first), part.data(), part.size());
            });
            array_.give_back(plane(mine.first) - array_.data(), mine.count * ny_ * nx_);
        }
        transposed_ = true;
    }

    void back() override {
        for (int round = 0; round < rounds_; ++round) {
            Share const mine = in_round(context_.rank(), round);
            std::vector<sluice::OutgoingPart> parts;  // which lie in the array as they are sent
            parts.reserve(static_cast<std::size_t>(context_.size()));
            for (int to = 0; to < context_.size(); ++to)
                parts.push_back(
                    {to, std::as_bytes(std::span(line(in_round(to, round).first), elements_for(to, round))), {}, {}});
            exchange(parts, [this, mine](int from, std::span<std::byte const> part) {
                unpack_planes(mine, lines_of(from), part.data());
            });
            for (int to = 0; to < context_.size(); ++to)
                other_.give_back(line(in_round(to, round).first) - other_.data(),
                                 in_round(to, round).count * lines_.count * nx_);
        }
        transposed_ = false;
    }

  private:
    /// What is twice in memory during a transpose is one of so many parts of the array. A round of less than 2 MiB
    /// costs time and saves nothing.
    static int rounds_of(std::int64_t elements, int ranks) {
        std::int64_t const bytes_of_a_rank = elements * static_cast<std::int64_t>(sizeof(Complex)) / ranks;
        return static_cast<int>(std::clamp<std::int64_t>(bytes_of_a_rank / (2 << 20), 1, 8));
    }
    Share planes_of(int rank) const { return share_of(nz_, rank, context_.size()); }
    Share lines_of(int rank) const { return share_of(ny_, rank, context_.size()); }
    /// The planes that a rank sends or gets in a round.
    Share in_round(int rank, int round) const {
        Share const all = planes_of(rank);
        Share const some = share_of(all.count, round, rounds_);
        return {all.first + some.first, some.count};
    }
    Complex* plane(std::int64_t z) const { return array_.data() + (z - planes_.first) * ny_ * nx_; }
    Complex* line(std::int64_t z) const { return other_.data() + z * lines_.count * nx_; }
    std::size_t elements_for(int to, int round) const {
        return static_cast<std::size_t>(in_round(to, round).count * lines_.count * nx_);
    }
    sluice::Bytes bytes_of(Share planes, Share lines) const {
        return {static_cast<std::uint64_t>(planes.count * lines.count * nx_) * sizeof(Complex)};
    }
    std::size_t bytes_of_rows(Share lines) const {
        return static_cast<std::size_t>(lines.count * nx_) * sizeof(Complex);
    }

    void pack_planes(Share planes, Share lines, std::byte* out) const {
        for (std::int64_t z = planes.first; z < planes.first + planes.count; ++z, out += bytes_of_rows(lines))
            std::memcpy(out, plane(z) + lines.first * nx_, bytes_of_rows(lines));
    }
    void unpack_planes(Share planes, Share lines, std::byte const* in) const {
        for (std::int64_t z = planes.first; z < planes.first + planes.count; ++z, in += bytes_of_rows(lines))
            std::memcpy(plane(z) + lines.first * nx_, in, bytes_of_rows(lines));
    }
    template <typename Take>
    void exchange(std::vector<sluice::OutgoingPart> const& parts, Take const& take) {
        auto const report =
            plan_.apply(parts, [&take](int from, sluice::FetchResult const& part) { take(from, part[0]); });
        message_mib_ = std::max(message_mib_, static_cast<double>(report.peak.count) / (1 << 20));
    }

    sluice::Context& context_;
    std::int64_t nx_;
    std::int64_t ny_;
    std::int64_t nz_;
    Share planes_;
    Share lines_;
    int rounds_;
    PagedOutArray array_;        ///< planes
    PagedOutArray other_;        ///< lines
    sluice::ExchangePlan plan_;  ///< of all rounds, whose parts are of a few sizes
    bool transposed_ = false;
    double message_mib_ = 0;
};

}  // namespace fft3d
