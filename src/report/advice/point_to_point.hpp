// SPDX-License-Identifier: BSD-3-Clause
/// Messages that the program sends from rank to rank. The matrix of a report has them together with those that
/// collective calls are defined by, which never wait for a receive.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/message_memory.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

struct Messages {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_each() const noexcept { return number > 0 ? bytes / number : 0; }
    /// What they take at most if all of them wait.
    std::uint64_t memory() const noexcept { return number * base::memory_of_message(bytes_each()); }
    bool operator==(Messages const&) const = default;
};

/// Of messages of at most `most_each` bytes on average at their place: all that the ranks sent, of which the matrix
/// knows the target.
inline Messages sent_point_to_point(Summary const& summary, std::uint64_t most_each) {
    Messages sent;
    for (SiteSum const& site : summary.sites) {
        bool const sends = site.kind == record::Kind::send || site.kind == record::Kind::receive;  // MPI_Sendrecv
        if (!sends || site.bytes_out == 0 || site.calls == 0 || site.unplaced_bytes > 0) continue;
        if (site.bytes_out / site.calls > most_each) continue;
        sent.number += site.calls;
        sent.bytes += site.bytes_out;
    }
    return sent;
}

/// All messages of the matrix that count there.
template <class Counts>
Messages in_matrix(Summary const& summary, Counts const& counts) {
    Messages all;
    for (Cell const& cell : summary.matrix) {
        if (!counts(cell)) continue;
        all.number += cell.messages;
        all.bytes += cell.bytes;
    }
    return all;
}

inline Messages in_matrix(Summary const& summary) {
    return in_matrix(summary, [](Cell const&) { return true; });
}

/// Of the messages `sent`, those that went to the bin of `rank` for certain: as if all others of the matrix had gone
/// there, too.
inline Messages at_least_to(Summary const& summary, std::uint32_t rank, Messages const& sent) {
    std::uint32_t const bin = record::bin_of(rank, summary.world_size);
    Messages const all = in_matrix(summary);
    Messages const there = in_matrix(summary, [bin](Cell const& cell) { return cell.to == bin; });
    auto const less = [](std::uint64_t of, std::uint64_t part) { return of - std::min(of, part); };
    return {less(there.number, less(all.number, sent.number)), less(there.bytes, less(all.bytes, sent.bytes))};
}

}  // namespace sluice::report
