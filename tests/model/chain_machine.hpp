// SPDX-License-Identifier: BSD-3-Clause
/// The chain pull of the library itself, all ranks in one process and no MPI: every fetch is cut into its steps, which
/// happen in any order that some transport could cause.
///
///     decided (in a lane) -> started -> read at its owner -+-> landed at the receiver
///                                                          +-> the owner is told
///
/// By messages and reads these are steps of their own. In form pool the owner reads and is told at once, and content
/// for vacant slots takes one of few places until it lands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "memory/meter.hpp"
#include "model/problem.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/token/chain.hpp"

namespace sluice::tests::model {

class ChainMachine {
  public:
    enum class Way { messages, pool };
    /// Draws the sizes of lanes and the number of places; `problem.spares` are the spares.
    ChainMachine(Problem const& problem, Random& random, Way way = Way::messages);

    /// Runs all passes in a random order of steps. Returns false if it got stuck.
    bool run(Random& random);
    bool is_right() const;
    /// The number of fetches in the run.
    std::size_t fetches() const { return fetches_; }

  private:
    static constexpr std::uint64_t k_block = 16;
    static constexpr std::uint64_t k_piece = 8;  // so that there are two passes
    using Block = std::array<std::byte, k_block>;

    struct Rank {
        std::vector<Block> array;
        memory::Meter meter;
        base::Counters counters;
        std::unique_ptr<redistribution::AddressMap> inverse;
        std::unique_ptr<redistribution::Chain> chain;
        std::uint64_t leaving = 0;
        std::vector<std::byte> spares;  // in form pool
        std::size_t free_places = 0;    // for content of vacant slots
    };
    struct Flight {
        int receiver;
        int owner;
        engine::Fetch fetch;
        std::byte* place;
        std::array<std::byte, k_piece> content{};
        bool read = false;
        bool landed = false;
        bool told = false;
        bool has_place = false;
    };

    static Block block_named(int rank, std::uint64_t slot);
    bool run_pass(std::uint64_t offset, Random& random);
    bool start_some(Random& random);
    bool decide_some(Random& random);
    void advance(Flight& flight, Random& random);
    void advance_in_pool(Flight& flight);
    bool is_spare(Rank const& rank, std::byte const* place) const {
        return place >= rank.spares.data() && place < rank.spares.data() + rank.spares.size();
    }
    bool finished() const;

    Problem problem_;
    Way way_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<Flight> flights_;
    std::uint64_t offset_ = 0;
    std::size_t fetches_ = 0;
};

}  // namespace sluice::tests::model
