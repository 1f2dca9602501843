// SPDX-License-Identifier: BSD-3-Clause
/// The maps that are measured: where each block of each rank goes. A case is computed, never stored, so that any rank
/// can ask for any block's destination and the only communication that the check of a result needs is a sum.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/redistribute.hpp"

namespace sluice::bench {

class Case {
  public:
    virtual ~Case() = default;
    /// Returns the number of slots of the local array of `rank`.
    virtual std::uint64_t slots(int rank) const = 0;
    /// Returns where block `index` of `rank` goes; rank −1 for a free block.
    virtual Destination destination(int rank, std::uint64_t index) const = 0;
    /// Describes a map that keeps the global order of the live blocks, which are at the front of each array before and
    /// after: the first global block of each rank, before and after, with the total at the end.
    struct OrderedPartition {
        std::vector<std::int64_t> before;
        std::vector<std::int64_t> after;
    };
    virtual std::optional<OrderedPartition> ordered_partition() const { return std::nullopt; }
};

/// One line of `--help` and of the documentation.
struct CaseEntry {
    std::string_view name;
    std::string_view help;
    std::unique_ptr<Case> (*make)(int ranks, std::uint64_t slots_a_rank);
};

std::vector<CaseEntry> const& cases();

/// Makes the case of that name over `ranks` ranks with about `slots_a_rank` slots each (exact except for hotspot,
/// skewed, rebalance). Throws Error(invalid_argument), which lists the known names, for an unknown name.
std::unique_ptr<Case> make_case(std::string_view name, int ranks, std::uint64_t slots_a_rank);

/// A permutation of [0, size) that is computed forwards and backwards in constant memory: a Feistel network over the
/// next power of four, walked until it falls inside (J. Black and P. Rogaway, 2002, "Ciphers with arbitrary finite
/// domains").
class Permutation {
  public:
    explicit Permutation(std::uint64_t size);
    std::uint64_t operator()(std::uint64_t position) const;

  private:
    std::uint64_t once(std::uint64_t position) const;
    std::uint64_t size_;
    unsigned half_bits_;
};

}  // namespace sluice::bench
