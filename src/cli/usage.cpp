#include "base/nearest.hpp"
#include "cli/command.hpp"

namespace sluice::cli {

UsageError unknown(std::string_view what, std::string_view name, std::span<std::string_view const> known) {
    std::string text = "no " + std::string(what) + " is called '" + std::string(name) + "'";
    if (std::string_view const nearest = base::nearest(name, known); !nearest.empty())
        text += "; did you mean '" + std::string(nearest) + "'?";
    return UsageError(text);
}

}  // namespace sluice::cli
