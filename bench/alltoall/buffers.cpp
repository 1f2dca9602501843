// SPDX-License-Identifier: BSD-3-Clause
#include "alltoall/buffers.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/mpi.hpp"

namespace sluice::bench {

namespace {

std::uint64_t named_word(int from, int to, std::int64_t i) {
    return (static_cast<std::uint64_t>(from) << 52) ^ (static_cast<std::uint64_t>(to) << 40) ^
           static_cast<std::uint64_t>(i + 1);
}

std::size_t bytes_of(BlockList const& list) {
    return static_cast<std::size_t>(list.words) * sizeof(std::uint64_t);
}

}  // namespace

void BlockList::add(std::int64_t count) {
    counts.push_back(count);
    places.push_back(words);
    narrow_counts.push_back(static_cast<int>(count));
    narrow_places.push_back(static_cast<int>(words));
    words += count;
}

Buffers::Buffers(MPI_Comm comm, std::uint64_t bytes, bool is_varied) : rank_(mpi::rank_in(comm)) {
    int const size = mpi::size_of(comm);
    auto const words = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
    auto const count = [&](int from, int to) {
        return is_varied ? words + words * ((2 * from + to) % 3) / 4 - words / 4 : words;
    };
    for (int peer = 0; peer < size; ++peer) {
        leaving_.add(count(rank_, peer));
        coming_.add(count(peer, rank_));
    }
    from_ = Pages(bytes_of(leaving_));
    to_ = Pages(bytes_of(coming_));
}

void Buffers::make_fresh() {
    to_ = Pages();
    to_ = Pages(bytes_of(coming_));
}

void Buffers::fill(bool clears) {
    auto* const words = reinterpret_cast<std::uint64_t*>(from_.data());
    for (std::size_t peer = 0; peer < leaving_.counts.size(); ++peer)
        for (std::int64_t i = 0; i < leaving_.counts[peer]; ++i)
            words[leaving_.places[peer] + i] = named_word(rank_, static_cast<int>(peer), i);
    if (clears) std::memset(to_.data(), 0, bytes_of(coming_));
}

std::uint64_t Buffers::wrong_words() const {
    std::uint64_t wrong = 0;
    for (std::size_t peer = 0; peer < coming_.counts.size(); ++peer)
        for (std::int64_t i = 0; i < coming_.counts[peer]; ++i)
            wrong += to()[coming_.places[peer] + i] != named_word(static_cast<int>(peer), rank_, i) ? 1 : 0;
    return wrong;
}

std::uint64_t Buffers::bytes_moved() const noexcept {
    return static_cast<std::uint64_t>(leaving_.words - leaving_.counts[static_cast<std::size_t>(rank_)]) *
           sizeof(std::uint64_t);
}

}  // namespace sluice::bench
