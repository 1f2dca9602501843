// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/strategy.hpp"

#include <array>

namespace sluice::redistribution {

namespace {
constexpr std::array k_strategies{
    StrategyEntry{Strategy::token, "token", true, needs_of_token, prepare_token},
    StrategyEntry{Strategy::parking, "parking", false, needs_forward, prepare_parking},
    StrategyEntry{Strategy::cyclic, "cyclic", false, needs_forward, prepare_cyclic},
    StrategyEntry{Strategy::alltoallv, "alltoallv", false, needs_forward, prepare_alltoallv},
};
}  // namespace

std::span<StrategyEntry const> strategies() {
    return k_strategies;
}

StrategyEntry const& strategy_entry(Strategy id) {
    for (StrategyEntry const& entry : k_strategies)
        if (entry.id == id) return entry;
    throw Error(ErrorCode::internal, "no such strategy: " + std::to_string(static_cast<int>(id)));
}

}  // namespace sluice::redistribution

namespace sluice {

Strategy strategy_named(std::string_view name) {
    if (name == "auto") return Strategy::automatic;
    std::string known;
    for (auto const& entry : redistribution::strategies()) {
        if (entry.name == name) return entry.id;
        known += std::string(entry.name) + ", ";
    }
    throw Error(ErrorCode::invalid_argument,
                "no strategy is called '" + std::string(name) + "'; known are " + known + "auto");
}

}  // namespace sluice
