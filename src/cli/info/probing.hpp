// SPDX-License-Identifier: BSD-3-Clause
/// Finding out by touching memory how much there is: the second way of Y. Shi, G. Zheng and L. V. Kale (2007, section
/// 3.3.2), for where no limit can be read, or to check one that was.
#pragma once

#include <chrono>
#include <string>

#include "sluice/units.hpp"

namespace sluice::cli {

struct Probing {
    enum class End {
        not_resident,  ///< what was touched did not stay in memory: the kernel pages
        killed,        ///< by the kernel, for lack of memory
        refused,       ///< mmap gave no more: a resource limit
        all_touched,   ///< up to the given bound everything stayed in memory
        out_of_time,
    };
    Bytes touched;
    Bytes resident;  ///< the most of it that was in memory
    End end = End::out_of_time;
};

/// A child process touches memory, page by page, until its resident size does not grow any more, at most `most` bytes
/// and for `seconds`. Puts the node under pressure: others' pages may be pushed out meanwhile. Where the kernel must
/// kill, it kills the child first (oom_score_adj 1000). The child dies with this process. Throws std::runtime_error
/// where it cannot be started.
Probing probe_memory(Bytes most, std::chrono::seconds limit);

/// "what was touched did not stay in memory", …
std::string text_of(Probing::End end);

}  // namespace sluice::cli
