// SPDX-License-Identifier: BSD-3-Clause
/// Finds out the amount of memory by touching it: the second way of Y. Shi, G. Zheng and L. V. Kale (2007, section
/// 3.3.2), for machines without a readable limit, or to check a limit.
#pragma once

#include <chrono>
#include <string>

#include "sluice/units.hpp"

namespace sluice::cli {

struct Probing {
    enum class End {
        not_resident,  ///< touched memory did not stay resident: the kernel pages
        killed,        ///< by the kernel, for lack of memory
        refused,       ///< mmap failed: a resource limit
        all_touched,   ///< all memory up to the given bound stayed resident
        out_of_time,
    };
    Bytes touched;
    Bytes resident;  ///< the most memory that was resident
    End end = End::out_of_time;
};

/// A child process touches memory, page by page, until its resident size stops growing, at most `most` bytes and for
/// `seconds`. This puts the node under pressure: pages of other processes may be paged out meanwhile. If the kernel
/// must kill a process, it kills the child first (oom_score_adj 1000). The child dies with this process. Throws
/// std::runtime_error if it cannot be started.
Probing probe_memory(Bytes most, std::chrono::seconds limit);

/// "what was touched did not stay in memory", …
std::string text_of(Probing::End end);

}  // namespace sluice::cli
