#include "report/read/fate.hpp"

#include <algorithm>
#include <chrono>

namespace sluice::report {

State fate_of(RankHead const& head, std::uint64_t now_unix_us) noexcept {
    if (head.state != State::running && head.state != State::finalizing) return head.state;
    switch (life_of(head.process)) {
        case Life::alive:
            return head.state;
        case Life::gone:
            return State::gone;
        case Life::elsewhere:
            break;
    }
    return last_sign_unix_us(head) + k_silent_us < now_unix_us ? State::gone : State::unknown;
}

std::uint64_t last_sign_unix_us(RankHead const& head) noexcept {
    return head.start_unix_us == 0 ? 0 : head.start_unix_us + std::max(head.now_us, head.end_us);
}

std::uint64_t now_unix_us() noexcept {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace sluice::report
