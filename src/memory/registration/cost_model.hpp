// SPDX-License-Identifier: BSD-3-Clause
/// What registering and giving back cost: a·pages + b (Li et al. 2011, section 3.2), by regression over what was
/// measured. Does not allocate.
///
///     at start      measured on memory of the registrar's own
///     while used    each operation counts; what is old fades, so a and b follow a device that becomes slower
#pragma once

#include <cstdint>

#include "memory/registration/registrar.hpp"

namespace sluice::memory::registration {

/// a and b of one operation.
class PageCost {
  public:
    void learn(std::uint64_t pages, Time cost) noexcept;
    /// The cost that is to be expected at most: the fit, and twice the mean distance of the measurements from it.
    Time of(std::uint64_t pages) const noexcept;
    double ns_a_page() const noexcept { return a_; }
    double ns_a_call() const noexcept { return b_; }

  private:
    double weight_ = 0;
    double mean_pages_ = 0;
    double mean_ns_ = 0;
    double var_pages_ = 0;  // sums of products around the means, faded
    double covar_ = 0;
    double a_ = 0;
    double b_ = 0;
    double distance_ = 0;
};

/// The terms of the conditions that do not depend on the registrar: the helper's own work on one item.
struct StepCosts {
    Time event{};   ///< t_hash + t_cache: one item of the deregistration queue is looked up and learnt from
    Time insert{};  ///< t_insert: a prediction is put into the registration queue
    Time update{};  ///< t_update: the earliest deadline of a region is found
};

struct Costs {
    PageCost add;
    PageCost remove;
    StepCosts steps;
};

/// Measures the registrar on memory that is mapped for this and unmapped after, of at most `most_pages` pages; an
/// operation that fails ends the measurement. The steps are those given.
Costs measure_costs(Registrar& registrar, std::uint64_t most_pages, StepCosts steps);

/// Measures the helper's steps on this machine by the real clock.
StepCosts measure_steps();

}  // namespace sluice::memory::registration
