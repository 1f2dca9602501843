// SPDX-License-Identifier: BSD-3-Clause
/// Figures as people read them, the same in every report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::report {

/// Three digits, fewer only for whole numbers: "0 B", "640 KiB", "1.37 GiB", "89.0 MiB", "2 GiB".
std::string size_text(std::uint64_t bytes);
std::string kib_text(std::uint64_t kib);
/// "0.52 s", "12.4 s", "3 min 12 s", "2 h 05 min".
std::string time_text(std::uint64_t us);
/// "34 %", "0.4 %"; of nothing "0 %".
std::string percent_text(double part, double whole);
/// "1.2 million", "873".
std::string count_text(std::uint64_t count);
/// "1 rank", "8 ranks".
std::string plural(std::uint64_t count, std::string_view what);
/// "MPI_Send at f+0x3 (app)", "outside MPI" for an empty function.
std::string call_text(std::string_view function, std::string_view place);

/// Counts code points, each of which takes one column.
std::size_t columns_of(std::string_view text);
/// The text in lines of at most `columns`, cut at blanks; the first begins with the label, the others with as many
/// blanks. A word that is too long stands alone and is cut with an ellipsis in its middle.
std::string wrapped(std::string_view label, std::string_view text, std::size_t columns = 100);

}  // namespace sluice::report
