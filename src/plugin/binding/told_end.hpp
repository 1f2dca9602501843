// SPDX-License-Identifier: BSD-3-Clause
/// The line on standard error of a job that does not end in order.
///
///     MPI_Abort, a fatal error, abort, _exit   said by the rank itself        ┐
///     exit, return from main                   the same, at its very end      ├ the first one of the node
///     a signal                                 by the rank that watches it    ┘
#pragma once

#include <cstdint>
#include <optional>

#include "record/record_file.hpp"
#include "report/read/fate.hpp"

namespace sluice::plugin {

/// Says how a rank ended, and how to see what the ranks wrote down if that is in a file, unless a rank of this node has
/// said such a line. Allocates nothing: the program may be in a handler of a signal, or in its allocator.
void tell_end(record::RecordFile& file, std::uint32_t rank, report::How how, std::optional<std::int64_t> code) noexcept;

/// The same of a rank in whose head the end of its process stands (EndSeen).
void tell_end_seen(record::RecordFile& file, record::RankHead const& head) noexcept;

}  // namespace sluice::plugin
