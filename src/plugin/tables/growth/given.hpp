// SPDX-License-Identifier: BSD-3-Clause
/// Private bytes that the MPI was given since all lent buffers were looked at: so much can be taken back if pages turn
/// out to be the program's.
/// Written under the lock of readings (memory_watch.hpp); samples look at it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugin/binding/tally.hpp"
#include "plugin/tables/growth/held.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Given {
  public:
    /// A reading begins.
    void begins() noexcept { put(last_, std::uint64_t{0}); }
    /// `site`: null, or the place that `of_site` of them are counted for.
    void add(std::uint64_t bytes, record::Site* site, std::uint64_t of_site) noexcept {
        put(bytes_, bytes_ + bytes);
        put(last_, last_ + bytes);
        if (of_site <= at_site_) return;
        site_ = site;
        at_site_ = of_site;
    }
    /// `bytes` of them are the program's. Returns those that the MPI has to give back, and takes them from the place
    /// that most is counted for. The others are the MPI's for good if all buffers have been looked at.
    std::uint64_t take_back(std::uint64_t bytes, bool all_looked_at) noexcept {
        std::uint64_t const back = std::min(bytes, bytes_);
        std::uint64_t const back_at_site = std::min(bytes, at_site_);
        if (site_ != nullptr) untake(*site_, back_at_site);
        put(bytes_, all_looked_at ? 0 : bytes_ - back);
        at_site_ = all_looked_at ? 0 : at_site_ - back_at_site;
        if (at_site_ == 0) site_ = nullptr;
        return back;
    }
    std::uint64_t bytes() const noexcept { return look_at(bytes_); }
    /// The last reading gave the MPI so much that pages of the program's may be among it.
    bool is_much() const noexcept { return look_at(last_) >= k_growth; }

  private:
    std::uint64_t bytes_ = 0;
    std::uint64_t last_ = 0;  // by the last reading
    record::Site* site_ = nullptr;
    std::uint64_t at_site_ = 0;
};

}  // namespace sluice::plugin
