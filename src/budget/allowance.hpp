// SPDX-License-Identifier: BSD-3-Clause
/// What a budget may hold of something that others use too.
#pragma once

#include "sluice/units.hpp"

namespace sluice::budget {

/// Asked by a Budget under its lock: answers at once, does not throw, and does not touch the Budget.
class Allowance {
  public:
    virtual ~Allowance() = default;
    /// It would like to hold `wanted`. What it may hold from now on: at least that, often a little more so that it need
    /// not ask for each lease; or less than `wanted`: then all stays as it was.
    virtual Bytes extend(Bytes wanted) noexcept = 0;
    /// It holds that much, whether it may or not.
    virtual void exceed(Bytes held) noexcept = 0;
    /// It will hold no more than that from now on.
    virtual void shrink(Bytes to) noexcept = 0;
    /// No more than that of it is resident: said by any thread, without that lock, before memory goes back to the
    /// kernel. Else others find it free there and still take it off what is used, so that it counts twice.
    virtual void give_back(Bytes resident) noexcept = 0;
};

}  // namespace sluice::budget
