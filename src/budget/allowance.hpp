// SPDX-License-Identifier: BSD-3-Clause
/// Decides how much memory a budget may hold when other processes use the same memory.
#pragma once

#include "sluice/units.hpp"

namespace sluice::budget {

/// The Budget calls an Allowance under its lock. Every function returns without waiting, does not throw, and does not
/// call the Budget.
class Allowance {
  public:
    virtual ~Allowance() = default;
    /// The budget asks to hold `wanted` bytes. Returns what it may hold from now on: at least `wanted`, often a little
    /// more so that it need not ask for each lease, or less than `wanted`, in which case nothing changes.
    virtual Bytes extend(Bytes wanted) noexcept = 0;
    /// The budget holds `held` bytes, whether it is allowed to or not.
    virtual void exceed(Bytes held) noexcept = 0;
    /// The budget will hold at most `to` bytes from now on.
    virtual void shrink(Bytes to) noexcept = 0;
    /// At most `resident` of the held bytes are in memory. Any thread may call this, without the budget's lock, before
    /// it returns memory to the kernel: otherwise other processes would see that memory as free and also subtract it
    /// from what is used, and so count it twice.
    virtual void give_back(Bytes resident) noexcept = 0;
};

}  // namespace sluice::budget
