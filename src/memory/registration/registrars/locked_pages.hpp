// SPDX-License-Identifier: BSD-3-Clause
/// Pins by mlock: real page walks and the real limit of a user, without any device. The kernel does not count how often
/// a page was locked, so a page stays locked while any registration has it. Not for a program that calls mlock by
/// itself: its pages would be unlocked, too. Allocates a list of the registrations.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "memory/registration/registrar.hpp"

namespace sluice::memory::registration {

class LockedPages : public Registrar {
  public:
    std::string_view name() const noexcept override { return "mlock"; }
    Registered add(Range range) noexcept override;
    Time remove(std::uint64_t key, Range range) noexcept override;

  private:
    struct Live {
        std::uint64_t key;
        Range pages;
    };
    void unlock_what_no_other_has(Range pages) noexcept;

    std::mutex mutex_;
    std::vector<Live> live_;
    std::uint64_t last_key_ = 0;
};

}  // namespace sluice::memory::registration
