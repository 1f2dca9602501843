// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/moving/exchange.hpp"

#include <algorithm>
#include <climits>
#include <numeric>

#include "groups/agree.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"

namespace sluice::redistribution {

namespace {

constexpr int k_exchange_tag = groups::tags::k_exchange.first;

/// A type of `bytes` contiguous bytes.
class ByteType {
  public:
    explicit ByteType(int bytes) {
        mpi::check(MPI_Type_contiguous(bytes, MPI_BYTE, &type_), "MPI_Type_contiguous");
        mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    ByteType(ByteType const&) = delete;
    ByteType& operator=(ByteType const&) = delete;
    ~ByteType() { MPI_Type_free(&type_); }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The bytes are bounded, and not only MPI's int counts, because some networks below MPI do not take more in one
// message.
bool fit_one_call(std::uint64_t unit_bytes, std::span<std::uint64_t const> counts, std::uint64_t most_bytes) {
    std::uint64_t const most = *std::max_element(counts.begin(), counts.end());
    std::uint64_t const sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    return sum <= INT_MAX && unit_bytes <= most_bytes && most <= most_bytes / unit_bytes;
}

}  // namespace

Exchange::Exchange(engine::ContextState& context, memory::Meter& meter)
    : context_(context),
      window_(context.settings().outstanding_requests, meter),
      arguments_(4 * static_cast<std::size_t>(context.size()), 0, memory::MeteredAllocator<int>(meter)),
      displacements_(2 * static_cast<std::size_t>(context.size()), 0, memory::MeteredAllocator<std::uint64_t>(meter)) {}

void Exchange::run(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
                   std::byte* receive, std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes) {
    bool const fits = fits_one_call(unit_bytes, send_counts, receive_counts, most_bytes);
    run_agreed(groups::all_true(context_.comm(), fits), unit_bytes, send, send_counts, receive, receive_counts,
               most_bytes);
}

void Exchange::run_agreed(bool fits_everywhere, std::uint64_t unit_bytes, std::byte const* send,
                          std::span<std::uint64_t const> send_counts, std::byte* receive,
                          std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes) {
    if (fits_everywhere)
        in_one_call(unit_bytes, send, send_counts, receive, receive_counts);
    else
        in_pieces(unit_bytes, send, send_counts, receive, receive_counts, most_bytes);
}

bool Exchange::fits_one_call(std::uint64_t unit_bytes, std::span<std::uint64_t const> send_counts,
                             std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes) const {
    return fit_one_call(unit_bytes, send_counts, most_bytes) && fit_one_call(unit_bytes, receive_counts, most_bytes);
}

void Exchange::in_one_call(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
                           std::byte* receive, std::span<std::uint64_t const> receive_counts) {
    std::size_t const ranks = send_counts.size();
    int* const to_send = arguments_.data();
    int* const send_from = to_send + ranks;
    int* const to_receive = send_from + ranks;
    int* const receive_at = to_receive + ranks;
    auto const fill = [ranks](std::span<std::uint64_t const> from, int* counts, int* displacements) {
        int displacement = 0;
        for (std::size_t r = 0; r < ranks; ++r) {
            counts[r] = static_cast<int>(from[r]);
            displacements[r] = displacement;
            displacement += counts[r];
        }
    };
    fill(send_counts, to_send, send_from);
    fill(receive_counts, to_receive, receive_at);
    ByteType const unit(static_cast<int>(unit_bytes));
    mpi::check(MPI_Alltoallv(send, to_send, send_from, unit.get(), receive, to_receive, receive_at, unit.get(),
                             context_.comm()),
               "MPI_Alltoallv");
}

void Exchange::in_pieces(std::uint64_t unit_bytes, std::byte const* send, std::span<std::uint64_t const> send_counts,
                         std::byte* receive, std::span<std::uint64_t const> receive_counts, std::uint64_t most_bytes) {
    std::size_t const ranks = send_counts.size();
    std::span<std::uint64_t> const send_from(displacements_.data(), ranks);
    std::span<std::uint64_t> const receive_at(displacements_.data() + ranks, ranks);
    std::exclusive_scan(send_counts.begin(), send_counts.end(), send_from.begin(), std::uint64_t{0});
    std::exclusive_scan(receive_counts.begin(), receive_counts.end(), receive_at.begin(), std::uint64_t{0});

    Pairwise const order{context_.rank(), context_.size()};
    for (int distance = 0; distance < order.size; ++distance) {
        int const source = order.source(distance);
        int const target = order.target(distance);
        std::byte* into = receive + receive_at[static_cast<std::size_t>(source)] * unit_bytes;
        std::byte const* from = send + send_from[static_cast<std::size_t>(target)] * unit_bytes;
        std::uint64_t incoming = receive_counts[static_cast<std::size_t>(source)] * unit_bytes;
        std::uint64_t outgoing = send_counts[static_cast<std::size_t>(target)] * unit_bytes;
        while (incoming > 0 || outgoing > 0) {
            if (std::uint64_t const piece = std::min(incoming, most_bytes); piece > 0) {
                mpi::check(MPI_Irecv(into, static_cast<int>(piece), MPI_BYTE, source, k_exchange_tag, context_.comm(),
                                     window_.next()),
                           "MPI_Irecv");
                into += piece;
                incoming -= piece;
            }
            if (std::uint64_t const piece = std::min(outgoing, most_bytes); piece > 0) {
                mpi::check(MPI_Isend(from, static_cast<int>(piece), MPI_BYTE, target, k_exchange_tag, context_.comm(),
                                     window_.next()),
                           "MPI_Isend");
                from += piece;
                outgoing -= piece;
            }
        }
    }
    window_.drain();
}

}  // namespace sluice::redistribution
