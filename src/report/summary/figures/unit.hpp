// SPDX-License-Identifier: BSD-3-Clause
/// The unit of a figure, which is the end of its name in report.json.
#pragma once

#include <string_view>

namespace sluice::report {

enum class Unit { kib, bytes, us, ns, count };

constexpr Unit unit_of(std::string_view name) {
    if (name.ends_with("_kib")) return Unit::kib;
    if (name.ends_with("bytes") || name.starts_with("bytes")) return Unit::bytes;
    if (name.ends_with("_us")) return Unit::us;
    return name.ends_with("_ns") ? Unit::ns : Unit::count;
}

}  // namespace sluice::report
