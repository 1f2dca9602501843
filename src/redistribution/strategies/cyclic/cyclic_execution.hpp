// SPDX-License-Identifier: BSD-3-Clause
/// Executes the schedule of the cyclic scheduler (MADRE, section 2.2): the root plays no part, and there are no
/// barriers.
#pragma once

#include <cstdint>

#include "redistribution/block_order.hpp"
#include "redistribution/strategies/cyclic/cyclic_search.hpp"
#include "redistribution/strategies/moving/block_stream.hpp"
#include "redistribution/strategies/moving/request_window.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// Executes actions on the blocks of one rank, which must be sorted before each. Only the constructor allocates.
class ActionRunner {
  public:
    /// `order` must outlive this object.
    ActionRunner(MPI_Comm comm, std::uint64_t outstanding_requests, BlockOrder& order, memory::Meter& meter);

    /// `blocks.spare` is the extra free block; it is free again afterwards.
    void run(Action const& action, BlockArray const& blocks, RedistributionReport& report);

  private:
    void send(Action const& action, BlockArray const& blocks);
    void receive(Action const& action, BlockArray const& blocks);
    void send_and_receive(Action const& action, BlockArray const& blocks);
    void post_words(Action const& action);
    void take_words(std::uint64_t slot, std::uint64_t first, std::uint64_t count) noexcept;

    BlockOrder& order_;
    RequestWindow window_;
    BlockStream incoming_;
    BlockStream outgoing_;
};

}  // namespace sluice::redistribution
