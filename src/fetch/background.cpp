// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/background.hpp"

#include <algorithm>

namespace sluice::fetch {

namespace {

using namespace std::chrono_literals;

// Waking up costs about 5 µs of a core: half a percent of a core, at k_longest, if it finds nothing to do.
constexpr kernel::HelperThread::Clock::duration k_shortest = 30us;
constexpr kernel::HelperThread::Clock::duration k_longest = 1ms;

}  // namespace

Background::Background(kernel::HelperThread& helper, Looked& looked)
    : helper_(&helper), looked_(&looked), pause_(k_longest) {
    helper_->add(*this);
}

Background::~Background() {
    helper_->remove(*this);
}

kernel::HelperThread::Clock::duration Background::run() noexcept {
    bool const program_looked = looks_.load(std::memory_order_relaxed) != looks_seen_;
    looks_seen_ = looks_.load(std::memory_order_relaxed);
    bool moved = false;
    if (!program_looked) moved = looked_->look_in_background();
    if (moved) moved_.fetch_add(1, std::memory_order_relaxed);
    pause_ = moved ? k_shortest : std::min(2 * pause_, k_longest);
    return pause_;
}

}  // namespace sluice::fetch
