// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/fate.hpp"

#include <algorithm>
#include <chrono>

namespace sluice::report {

record::State fate_of(record::RankHead const& head, std::uint64_t now_unix_us) noexcept {
    if (head.state != record::State::running && head.state != record::State::finalizing) return head.state;
    switch (kernel::life_of(head.process)) {
        case kernel::Life::alive:
            return head.state;
        case kernel::Life::gone:
            return record::State::gone;
        case kernel::Life::elsewhere:
            break;
    }
    return last_sign_unix_us(head) + k_silent_us < now_unix_us ? record::State::gone : record::State::unknown;
}

std::uint64_t last_sign_unix_us(record::RankHead const& head) noexcept {
    return head.start_unix_us == 0 ? 0 : head.start_unix_us + std::max(head.now_us, head.end_us);
}

std::uint64_t now_unix_us() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace sluice::report
