// SPDX-License-Identifier: BSD-3-Clause
/// State, parent, start and end of any process, as /proc tells them.
#pragma once

#include <sys/types.h>

#include <optional>

#include "kernel/proc_text.hpp"

namespace sluice::kernel {

/// Nothing if there is no such process, or /proc does not show it. Does not allocate.
std::optional<ProcessStat> process_stat(pid_t process) noexcept;
/// Of the caller: /proc may belong to another space of process numbers.
std::optional<ProcessStat> own_process_stat() noexcept;

}  // namespace sluice::kernel
