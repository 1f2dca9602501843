// SPDX-License-Identifier: BSD-3-Clause
#include "budget/process_budget.hpp"

#include <algorithm>
#include <utility>

#include "kernel/launcher.hpp"

namespace sluice::budget {

namespace {

/// Null under the simulator, which runs many ranks in one process.
std::shared_ptr<Adaptation> adaptation_of([[maybe_unused]] Settings const& settings, [[maybe_unused]] Files files,
                                          [[maybe_unused]] std::shared_ptr<kernel::HelperThread> const& helper_thread) {
#ifdef SLUICE_SIMULATED
    return nullptr;
#else
    return std::make_shared<Adaptation>(Adaptation::Options{settings.memory,
                                                            settings.node_memory,
                                                            settings.memory_reserve,
                                                            kernel::ranks_of_node().value_or(1),
                                                            true,
                                                            {},
                                                            files,
                                                            helper_thread});
#endif
}

Bytes left_of(MemoryLimit const& limit) {
    return limit.limit > limit.used ? limit.limit - limit.used : Budget::guaranteed_minimum;
}

}  // namespace

ProcessBudget::ProcessBudget(Settings const& settings, std::shared_ptr<kernel::HelperThread> const& helper_thread)
    : ProcessBudget(settings, adaptation_of(settings, Files::kept, helper_thread)) {}

ProcessBudget::ProcessBudget(Settings const& settings, Files files)
    : ProcessBudget(settings, adaptation_of(settings, files, nullptr)) {}

ProcessBudget::ProcessBudget(Settings const& settings, std::shared_ptr<Adaptation> adaptation)
    : limit_(detect_memory_limit(settings.memory)),
      adaptation_(std::move(adaptation)),
      budget_(adaptation_ ? adaptation_->m_c() : left_of(limit_),
              adaptation_ && adaptation_->has_ledger() ? adaptation_ : nullptr) {
    look();
}

Bytes ProcessBudget::room() {
    look();
    Bytes held = budget_.held();
    if (adaptation_ && adaptation_->has_ledger()) held = std::max(held, adaptation_->claimed());
    Bytes const limit = budget_.limit();
    return limit - std::min(held, limit);
}

}  // namespace sluice::budget
