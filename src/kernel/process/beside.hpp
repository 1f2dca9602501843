// SPDX-License-Identifier: BSD-3-Clause
/// Starts a command beside a program that knows nothing of it: the program gets no signal when the command ends, and no
/// child that its own waits could find.
///
///     this process ── in between ──> command     in between: shares the memory, ends at once, without a signal
///          ^                            │         command: an orphan, which the system collects
///          └──────── pipe: its output ──┘
///
/// A process that itself collects orphans would find it: there nothing is started.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::kernel {

/// Runs `command` (path and arguments) and waits for its end. It reads nothing, its errors go nowhere, and its
/// environment is that of this process without LD_PRELOAD. Returns what it wrote to its standard output before a zero
/// byte: with that it says that all went well. Nothing if it cannot start, or ends without the zero.
std::optional<std::string> output_of_beside(std::vector<std::string> const& command) noexcept;

}  // namespace sluice::kernel
