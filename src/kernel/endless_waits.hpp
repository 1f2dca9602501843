// SPDX-License-Identifier: BSD-3-Clause
/// The waits of a rank's tasks that only a task of the same rank can end. If no task can run and every one of them
/// waits so, or for another such task, they wait for ever.
///
///     a part of the context (store, paged file, budget) says one of two things:
///       may_end()     it may still run code of the program, or it cannot tell
///       add(wait)     this task waits, here, for what only code of the program on this rank can make
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::kernel {

class EndlessWaits {
  public:
    enum class For : std::uint8_t {
        publication,  ///< data of this rank that are not published
        sending,      ///< data that this rank has not sent to itself
        readers       ///< readers of this rank's data, of which there are none but tasks of this rank
    };
    struct Wait {
        void const* task;  ///< its promise
        For what;
        std::uint64_t id;
        std::uint64_t epoch;
    };

    void may_end() noexcept { may_end_ = true; }
    bool all_are_endless() const noexcept { return !may_end_; }
    void add(Wait const& wait) { waits_.push_back(wait); }

    /// One for each task, whatever number of data it waits for.
    std::vector<Wait> const& of_each_task() {
        std::stable_sort(waits_.begin(), waits_.end(),
                         [](Wait const& a, Wait const& b) { return std::less<>()(a.task, b.task); });
        auto const same = [](Wait const& a, Wait const& b) { return a.task == b.task; };
        waits_.erase(std::unique(waits_.begin(), waits_.end(), same), waits_.end());
        return waits_;
    }

  private:
    std::vector<Wait> waits_;
    bool may_end_ = false;
};

}  // namespace sluice::kernel
