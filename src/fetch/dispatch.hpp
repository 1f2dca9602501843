// SPDX-License-Identifier: BSD-3-Clause
/// Hands each message that arrives at a rank to the part of its store that it is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fetch/data_check.hpp"
#include "fetch/long_waits.hpp"
#include "fetch/owner/sending.hpp"
#include "fetch/owner/serving.hpp"
#include "fetch/reader/direct_reads.hpp"
#include "fetch/reader/fetching.hpp"
#include "fetch/reader/receiving.hpp"
#include "fetch/wire.hpp"

namespace sluice::fetch {

class Dispatch final : public Arrivals {
  public:
    Dispatch(Fetching& fetching, Serving& serving, DirectReads& reads, Sending& sending, Receiving& receiving,
             DataFaults& faults, LongWaits& waits)
        : fetching_(&fetching),
          serving_(&serving),
          reads_(&reads),
          sending_(&sending),
          receiving_(&receiving),
          faults_(&faults),
          waits_(&waits) {}

    void control_from(int peer, Control const& control, std::string_view text) override;
    bool data_from(int peer, std::uint32_t slot, std::size_t bytes) override;
    void data_complete(std::uint32_t slot, std::size_t bytes) override;
    void sent(std::uint64_t ticket) override;

  private:
    Fetching* fetching_;
    Serving* serving_;
    DirectReads* reads_;
    Sending* sending_;
    Receiving* receiving_;
    DataFaults* faults_;
    LongWaits* waits_;
};

}  // namespace sluice::fetch
