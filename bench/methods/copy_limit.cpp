// SPDX-License-Identifier: BSD-3-Clause
// This is a bound and not a method: each rank copies as many bytes as it has blocks that must move, once, in one sweep,
// with whichever of memcpy and non-temporal stores was faster on this machine. No method that copies each block once
// can be faster.
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "methods/method.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

using Copy = void (*)(std::byte* to, std::byte const* from, std::size_t bytes);

void plain_copy(std::byte* to, std::byte const* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}

void streaming_copy(std::byte* to, std::byte const* from, std::size_t bytes) {
    std::size_t at = 0;
#if defined(__SSE2__)
    for (; at + 64 <= bytes; at += 64) {
        auto const* const source = reinterpret_cast<__m128i const*>(from + at);
        auto* const target = reinterpret_cast<__m128i*>(to + at);  // pages are aligned
        __m128i const a = _mm_loadu_si128(source);
        __m128i const b = _mm_loadu_si128(source + 1);
        __m128i const c = _mm_loadu_si128(source + 2);
        __m128i const d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    _mm_sfence();
#endif
    std::memcpy(to + at, from + at, bytes - at);
}

class CopyLimit final : public Method {
  public:
    explicit CopyLimit(Workload const& workload)
        : source_(static_cast<std::byte const*>(workload.blocks.data)),
          bytes_(moving_blocks(workload) * workload.blocks.block_bytes.count),
          target_(bytes_) {
        std::memset(target_.data(), 1, bytes_);
        // All ranks must time the same code, so all take the copy whose slowest rank is faster.
        double seconds[2] = {time_of(workload.comm, plain_copy), time_of(workload.comm, streaming_copy)};
        MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, workload.comm);
        copy_ = seconds[0] < seconds[1] ? plain_copy : streaming_copy;
    }

    void run() override { copy_(target_.data(), source_, bytes_); }
    std::optional<bool> own_check() const override { return std::memcmp(target_.data(), source_, bytes_) == 0; }

  private:
    static std::uint64_t moving_blocks(Workload const& workload) {
        std::uint64_t moving = 0;
        for (std::size_t slot = 0; slot < workload.destinations.size(); ++slot) {
            Destination const& to = workload.destinations[slot];
            if (to.rank >= 0 && to != Destination{workload.rank, static_cast<std::int64_t>(slot)}) ++moving;
        }
        return moving;
    }
    double time_of(MPI_Comm comm, Copy copy) const {
        copy(target_.data(), source_, bytes_);
        MPI_Barrier(comm);
        double const start = MPI_Wtime();
        copy(target_.data(), source_, bytes_);
        return MPI_Wtime() - start;
    }

    std::byte const* source_;
    std::size_t bytes_;
    Pages target_;
    Copy copy_ = plain_copy;
};

}  // namespace

std::unique_ptr<Method> make_copy_limit(MethodEntry const&, Workload const& workload) {
    return std::make_unique<CopyLimit>(workload);
}

}  // namespace sluice::bench
