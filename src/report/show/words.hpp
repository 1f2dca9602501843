// SPDX-License-Identifier: BSD-3-Clause
/// Figures as people read them, the same in every report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::report {

/// Returns a size with three digits, a whole number with fewer: "0 B", "640 KiB", "1.37 GiB", "89.0 MiB", "2 GiB".
std::string size_text(std::uint64_t bytes);
std::string kib_text(std::uint64_t kib);
/// Returns a text such as "0.52 s", "12.4 s", "3 min 12 s", "2 h 05 min".
std::string time_text(std::uint64_t us);
/// Returns a text such as "34 %" or "0.4 %"; "0 %" if `whole` is 0.
std::string percent_text(double part, double whole);
/// Returns a text such as "1.2 million" or "873".
std::string count_text(std::uint64_t count);
/// Returns a text such as "1 rank" or "8 ranks".
std::string plural(std::uint64_t count, std::string_view what);
/// The same of a noun with a plural of its own: "2 processes".
std::string plural(std::uint64_t count, std::string_view one, std::string_view several);
/// Returns a text such as "MPI_Send at f+0x3 (app)"; "outside MPI" for an empty function.
std::string call_text(std::string_view function, std::string_view place);

/// Appends the text, which is empty if there is nothing to say.
inline constexpr std::size_t k_place_shown = 72;
/// Returns the name of a place, without template arguments and then without its middle if it has more than
/// k_place_shown bytes.
std::string short_place(std::string_view place);

/// Returns the text with a capital letter at its begin.
std::string capital(std::string text);

void add_unless_empty(std::vector<std::string>& list, std::string text);

}  // namespace sluice::report
