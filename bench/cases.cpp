// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace sluice::bench {

Permutation::Permutation(std::uint64_t size)
    : size_(size), half_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(size > 0 ? size - 1 : 0)) + 1) / 2)) {}

std::uint64_t Permutation::once(std::uint64_t position) const {
    std::uint64_t const mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = position >> half_bits_;
    std::uint64_t right = position & mask;
    for (std::uint64_t round = 1; round <= 4; ++round) {
        std::uint64_t mixed = (right + round) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 29;
        mixed *= 0xBF58476D1CE4E5B9ULL;
        std::uint64_t const next = left ^ (mixed >> 32 & mask);
        left = right;
        right = next;
    }
    return left << half_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
    do {
        position = once(position);
    } while (position >= size_);
    return position;
}

namespace {

Destination to(std::uint64_t rank, std::uint64_t index) {
    return {static_cast<int>(rank), static_cast<std::int64_t>(index)};
}

/// Arrays that all have the same size.
class EvenCase : public Case {
  public:
    EvenCase(int ranks, std::uint64_t slots) : ranks_(static_cast<std::uint64_t>(ranks)), slots_(slots) {}
    std::uint64_t slots(int) const override { return slots_; }

  protected:
    std::uint64_t ranks_;
    std::uint64_t slots_;
};

/// MADRE's experiments 1 (all live) and 2 (the last fifth free).
class NextCase : public EvenCase {
  public:
    NextCase(int ranks, std::uint64_t slots, std::uint64_t free) : EvenCase(ranks, slots), live_(slots - free) {}
    Destination destination(int rank, std::uint64_t index) const override {
        if (index >= live_) return free_block;
        return to((static_cast<std::uint64_t>(rank) + 1) % ranks_, index);
    }

  private:
    std::uint64_t live_;
};

/// MADRE's experiment 4: rank 0 is empty, every other rank is full and deals its blocks to all others in turn.
class HotspotCase : public EvenCase {
  public:
    /// The number of slots is rounded down so that all other ranks get equal shares.
    HotspotCase(int ranks, std::uint64_t slots)
        : EvenCase(ranks, ranks > 1 ? slots - slots % static_cast<std::uint64_t>(ranks - 1) : slots) {}
    Destination destination(int rank, std::uint64_t index) const override {
        if (rank == 0) return free_block;
        std::uint64_t const source = static_cast<std::uint64_t>(rank);
        std::uint64_t const others = ranks_ - 1;
        std::uint64_t const target = (source + 1 + index % others) % ranks_;
        // At the target the sources take turns. Rank 0 sends nothing, and the target sends nothing to itself.
        std::uint64_t const sources = target == 0 ? others : others - 1;
        std::uint64_t const turn = source - 1 - (target != 0 && source > target ? 1 : 0);
        return to(target, index / others * sources + turn);
    }
};

/// MADRE's experiment 5: block j of rank i goes to position (m i + j) / n of rank (m i + j) mod n, and a fifth of the
/// slots is free.
class TransposeCase : public EvenCase {
  public:
    TransposeCase(int ranks, std::uint64_t slots) : EvenCase(ranks, slots), live_(slots - slots / 5) {}
    Destination destination(int rank, std::uint64_t index) const override {
        if (index >= live_) return free_block;
        std::uint64_t const place = live_ * static_cast<std::uint64_t>(rank) + index;
        return to(place % ranks_, place / ranks_);
    }

  private:
    std::uint64_t live_;
};

class RandomCase : public EvenCase {
  public:
    RandomCase(int ranks, std::uint64_t slots) : EvenCase(ranks, slots), permute_(ranks_ * slots) {}
    Destination destination(int rank, std::uint64_t index) const override {
        std::uint64_t const place = permute_(static_cast<std::uint64_t>(rank) * slots_ + index);
        return to(place / slots_, place % slots_);
    }

  private:
    Permutation permute_;
};

/// Returns the first global index of each rank, and the total at the end, for heavy-tailed sizes: the weights are 1,
/// 1/2, 1/3, …, the largest at the middle rank.
std::vector<std::uint64_t> skewed_starts(int ranks, std::uint64_t slots_a_rank) {
    std::uint64_t const count = static_cast<std::uint64_t>(ranks);
    double sum = 0;
    for (std::uint64_t place = 0; place < count; ++place)
        sum += 1.0 / static_cast<double>(place + 1);
    std::vector<std::uint64_t> starts{0};
    for (std::uint64_t rank = 0; rank < count; ++rank) {
        double const weight = 1.0 / static_cast<double>((rank + count - count / 2) % count + 1);
        double const share = static_cast<double>(slots_a_rank * count) * weight / sum;
        starts.push_back(starts.back() + static_cast<std::uint64_t>(share));
    }
    return starts;
}

Destination locate(std::vector<std::uint64_t> const& starts, std::uint64_t place) {
    auto const after = std::upper_bound(starts.begin(), starts.end(), place);
    std::uint64_t const rank = static_cast<std::uint64_t>(after - starts.begin()) - 1;
    return to(rank, place - starts[rank]);
}

/// Arrays of heavy-tailed sizes: a tenth of each is free, and the other blocks go to random slots of the whole.
class SkewedCase : public Case {
  public:
    SkewedCase(int ranks, std::uint64_t slots) : starts_(skewed_starts(ranks, slots)), permute_(starts_.back()) {}
    std::uint64_t slots(int rank) const override {
        std::size_t const r = static_cast<std::size_t>(rank);
        return starts_[r + 1] - starts_[r];
    }
    Destination destination(int rank, std::uint64_t index) const override {
        std::uint64_t const size = slots(rank);
        if (index >= size - size / 10) return free_block;
        return locate(starts_, permute_(starts_[static_cast<std::size_t>(rank)] + index));
    }

  private:
    std::vector<std::uint64_t> starts_;
    Permutation permute_;
};

/// The map of adaptive-mesh codes: heavy-tailed loads are made even along the global order. Each array has room for its
/// load before and after.
class RebalanceCase : public Case {
  public:
    RebalanceCase(int ranks, std::uint64_t slots) : before_(skewed_starts(ranks, slots)) {
        std::uint64_t const count = static_cast<std::uint64_t>(ranks);
        for (std::uint64_t rank = 0; rank <= count; ++rank)
            after_.push_back(before_.back() * rank / count);
    }
    std::uint64_t slots(int rank) const override {
        std::size_t const r = static_cast<std::size_t>(rank);
        return std::max(before_[r + 1] - before_[r], after_[r + 1] - after_[r]);
    }
    Destination destination(int rank, std::uint64_t index) const override {
        std::size_t const r = static_cast<std::size_t>(rank);
        if (index >= before_[r + 1] - before_[r]) return free_block;
        return locate(after_, before_[r] + index);
    }
    std::optional<OrderedPartition> ordered_partition() const override {
        return OrderedPartition{{before_.begin(), before_.end()}, {after_.begin(), after_.end()}};
    }

  private:
    std::vector<std::uint64_t> before_;
    std::vector<std::uint64_t> after_;
};

template <typename C>
std::unique_ptr<Case> make(int ranks, std::uint64_t slots) {
    return std::make_unique<C>(ranks, slots);
}

}  // namespace

std::vector<CaseEntry> const& cases() {
    static std::vector<CaseEntry> const entries{
        {"next", "all blocks to the next rank, no free space",
         [](int ranks, std::uint64_t slots) -> std::unique_ptr<Case> {
             return std::make_unique<NextCase>(ranks, slots, 0);
         }},
        {"next20", "the same with 20 % free",
         [](int ranks, std::uint64_t slots) -> std::unique_ptr<Case> {
             return std::make_unique<NextCase>(ranks, slots, slots / 5);
         }},
        {"hotspot", "one rank all free, all others full and scattering to all", make<HotspotCase>},
        {"transpose", "global transpose, 20 % free", make<TransposeCase>},
        {"random", "random permutation of all slots of all ranks, no free space", make<RandomCase>},
        {"skewed", "heavy-tailed array sizes, random destinations, 10 % free", make<SkewedCase>},
        {"rebalance", "heavy-tailed loads made even along the global order", make<RebalanceCase>},
    };
    return entries;
}

std::unique_ptr<Case> make_case(std::string_view name, int ranks, std::uint64_t slots_a_rank) {
    std::string known;
    for (CaseEntry const& entry : cases()) {
        if (entry.name == name) return entry.make(ranks, slots_a_rank);
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    throw Error(ErrorCode::invalid_argument, "no case is called '" + std::string(name) + "'; known are " + known);
}

}  // namespace sluice::bench
