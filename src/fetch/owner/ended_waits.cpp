// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/owner/ended_waits.hpp"

namespace sluice::fetch {

bool EndedWaits::tell() {
    DeliveryWaits waits = std::exchange(ended_, {});  // callbacks may add further waits
    bool const any = !waits.empty();
    while (!waits.empty()) {
        std::shared_ptr<DeliveryWait> const wait = std::move(waits.front());
        waits.pop_front();
        if (--wait->missing > 0) continue;
        if (wait->task != nullptr) detail::make_ready(*wait->task);
        if (!wait->done) continue;
        try {
            wait->done();
        } catch (...) {
            ended_.splice(ended_.end(), waits);
            throw;
        }
    }
    return any;
}

}  // namespace sluice::fetch
