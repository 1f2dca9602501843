// SPDX-License-Identifier: BSD-3-Clause
/// What the tests of threshold events share.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "budget/made_up_node.hpp"
#include "budget/memory_usage.hpp"
#include "budget/test_group.hpp"
#include "budget/usage_events.hpp"
#include "kernel/helper_thread.hpp"

namespace sluice::tests {

/// Returns the group of this process in version 1; empty if there is none.
inline std::string own_group() {
    for (budget::MemoryPlace const& place : budget::find_memory_places({}))
        if (place.kind == budget::MemoryPlace::Kind::cgroup_v1) return place.folder;
    return {};
}

inline std::size_t threads_of_this_process() {
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

inline budget::MemoryPlace place_in(std::string const& folder, Bytes limit) {
    return {budget::MemoryPlace::Kind::cgroup_v1, {limit, {}, "cgroup v1"}, folder, "memory.limit_in_bytes"};
}

class UsageEventsTest : public MadeUpNode {
  protected:
    /// Looks again and again until the marks are set.
    static void wait_until_marked(budget::UsageEvents& events, Bytes limit) {
        wait_until([&] {
            events.follow(limit);
            return events.is_listening();
        });
    }
    static bool can_mark(TestGroup const& group) {
        return !group.folder().empty() && access((group.folder() + "/cgroup.event_control").c_str(), W_OK) == 0;
    }
};

inline std::shared_ptr<kernel::HelperThread> helper() {
    return std::make_shared<kernel::HelperThread>();
}

inline constexpr char const* k_no_group = "no memory control group of version 1 can be made here (needs root)";

}  // namespace sluice::tests
