// SPDX-License-Identifier: BSD-3-Clause
/// Writing to a pipe, a terminal or a file that belongs to the program, without any effect on the program.
#pragma once

#include <chrono>
#include <string_view>

namespace sluice::kernel {

/// For a reader that is slow or was stopped for a moment.
inline constexpr std::chrono::milliseconds k_patience{5000};

/// Writes the whole text to the open descriptor `file`. A pipe without a reader raises no SIGPIPE. If the reader takes
/// nothing for `patience`, the rest of the text is dropped: a job must not wait for ever for the reader of its
/// messages. Changes neither the flags of the descriptor, which other processes may share, nor the program's handler of
/// SIGPIPE. Returns whether all was written. Texts of up to 4096 bytes reach a pipe in one piece.
bool write_patiently(int file, std::string_view text, std::chrono::milliseconds patience) noexcept;

}  // namespace sluice::kernel
