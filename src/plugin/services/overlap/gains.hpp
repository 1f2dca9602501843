// SPDX-License-Identifier: BSD-3-Clause
/// What deferral has won at each call site. A site that does not win is left alone, and tried again ever more rarely: a
/// program may change what it does between a receive and the use of its data.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "record/record.hpp"

namespace sluice::plugin {

class Gains {
  public:
    using Duration = std::chrono::steady_clock::duration;

    /// Asked once for each receive of the site that could be deferred.
    bool is_worth_a_try(std::uint32_t site) noexcept {
        Site& s = sites_[site];
        if (s.left_alone == 0) return true;
        --s.left_alone;
        return false;
    }
    /// A deferred receive was completed: it hid so much waiting and cost so much.
    void learn(std::uint32_t site, Duration hidden, Duration cost) noexcept {
        Site& s = sites_[site];
        if (hidden > cost * k_must_win) {
            s = {};
            return;
        }
        if (++s.losses < k_losses) return;
        leave_alone(s);
    }
    /// Messages of the site are too small, or its pages cannot be guarded.
    void cannot(std::uint32_t site) noexcept {
        Site& s = sites_[site];
        if (++s.losses >= k_losses) leave_alone(s);
    }

  private:
    static constexpr int k_must_win = 2;
    static constexpr std::uint8_t k_losses = 3;
    static constexpr std::uint32_t k_first_rest = 64;
    static constexpr std::uint32_t k_longest_rest = 4096;
    struct Site {
        std::uint32_t left_alone = 0;  // receives until the next try
        std::uint32_t rest = 0;
        std::uint8_t losses = 0;
    };
    static void leave_alone(Site& s) noexcept {
        s.rest = s.rest == 0 ? k_first_rest : std::min(s.rest * 2, k_longest_rest);
        s.left_alone = s.rest;
        s.losses = k_losses - 1;  // one more try decides
    }

    std::array<Site, record::k_sites> sites_{};
};

}  // namespace sluice::plugin
