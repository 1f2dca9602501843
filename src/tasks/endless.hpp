// SPDX-License-Identifier: BSD-3-Clause
/// Tasks that wait for each other for ever. None of them can run when each waits
///
///     for another task of the same scheduler, or
///     for data of its own rank that only a task can publish (kernel::EndlessWaits),
///
/// and no other part of the context may still run code of the program. A task that waits for anything else (a request,
/// a time, another rank, blocks of a file, an awaitable of the program) is in none of these lists, so it is missing in
/// the count.
#pragma once

#include "kernel/endless_waits.hpp"
#include "tasks/scheduler.hpp"

namespace sluice::tasks {

/// Throws Error(invalid_argument), which prints what each task waits for, if all tasks of `scheduler` wait so. No task
/// is ready, and `waits` are all endless.
void throw_if_endless(Scheduler const& scheduler, kernel::EndlessWaits& waits, int rank);

}  // namespace sluice::tasks
