// SPDX-License-Identifier: BSD-3-Clause
/// abort(), a failed assert() and _exit(): no destructor runs, and a launcher may end the rank that watches this one
/// before it has seen anything. So the rank writes down how it ends, as it begins to.
///
///     std::terminate ── abort ── ours, told first ── that of the next library ── SIGABRT
#pragma once

namespace sluice::plugin {

/// `status`: what waitpid() will tell. Nothing in a child of fork() or vfork(), and if the job has ended or this rank
/// has called MPI_Abort. Allocates nothing.
void note_abrupt_end(int status) noexcept;

/// The same of abort(), unless the program has a handler of SIGABRT, which may prevent it.
void note_call_of_abort() noexcept;

}  // namespace sluice::plugin
