// SPDX-License-Identifier: BSD-3-Clause
#include "command_line/usage_error.hpp"

#include "base/nearest.hpp"

namespace sluice::command_line {

UsageError unknown(std::string_view what, std::string_view name, std::span<std::string_view const> known) {
    std::string text = "no " + std::string(what) + " is called '" + std::string(name) + "'";
    std::string_view const nearest = base::nearest(name, known);
    // Up to half of the letters may be wrong, as in "rnu"; beyond that a suggestion would be a guess.
    if (!nearest.empty() && base::edit_distance(name, nearest) <= (name.size() + 1) / 2)
        return UsageError(text + "; did you mean '" + std::string(nearest) + "'?");
    for (std::string_view const one : known)
        text += (one == known.front() ? "; known are " : ", ") + std::string(one);
    return UsageError(text);
}

}  // namespace sluice::command_line
