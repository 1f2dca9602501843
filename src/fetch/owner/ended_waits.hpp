// SPDX-License-Identifier: BSD-3-Clause
/// The tasks and callbacks that waited for the readers of publications. They are told later than the message that ends
/// their wait, because they run code of the program.
#pragma once

#include <memory>
#include <utility>

#include "fetch/owner/publications.hpp"

namespace sluice::fetch {

class EndedWaits {
  public:
    /// Each of these misses one publication less. Allocates nothing.
    void add(DeliveryWaits&& waits) { ended_.splice(ended_.end(), waits); }
    /// `wait` misses none. May throw std::bad_alloc.
    void add_at_once(std::shared_ptr<DeliveryWait> const& wait) {
        ended_.push_back(wait);
        ++wait->missing;
    }
    /// Ends the waits that miss others, too, by an error.
    void leave_behind() noexcept {
        for (std::shared_ptr<DeliveryWait> const& wait : ended_)
            wait->leave_behind();
    }
    bool empty() const noexcept { return ended_.empty(); }

    /// Resumes the tasks and calls the callbacks that miss nothing any more. Returns false if nothing was added. After
    /// an exception of a callback the others are told next time.
    bool tell();

  private:
    DeliveryWaits ended_;  // once for each publication that a wait no longer misses
};

}  // namespace sluice::fetch
