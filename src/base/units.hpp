// SPDX-License-Identifier: BSD-3-Clause
/// Bytes from text and to text, the same everywhere: settings, errors, reports.
#pragma once

#include <string>
#include <string_view>

#include "sluice/units.hpp"

namespace sluice::base {

/// Formats bytes for people: "0 B", "512 B", "2 MiB", "1.37 GiB". The text is rounded, so it must not be read back.
std::string format_bytes(Bytes bytes);

/// Formats bytes for machines: the shortest text without a fraction that parse_bytes reads back as the same value: "0",
/// "2MiB", "1500".
std::string exact_bytes(Bytes bytes);

/// Reads "0", "4096", "64MiB", "64M", "1.5GB". KiB, MiB … and K, M, G, T, P are powers of 1024; kB (or KB), MB … of
/// 1000. Blanks may stand around the number; case matters only in that "kB" and "KB" are both known. A fraction of a
/// byte is cut off. Throws Error(invalid_argument) for any other text and for numbers that do not fit into 64 bits.
Bytes parse_bytes(std::string_view text);

}  // namespace sluice::base
