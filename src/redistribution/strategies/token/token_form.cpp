// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/token_form.hpp"

#include <atomic>
#include <limits>

#include "node/node.hpp"
#include "redistribution/strategies/token/token_memory.hpp"

namespace sluice::redistribution {

namespace {

/// For larger blocks a request costs less than the second copy of the scan; the limit would be much lower if every rank
/// had a processor and answered at once.
constexpr std::uint64_t k_most_bytes_to_scan = 255;
constexpr std::uint64_t k_most_bytes_to_scan_crowded = 2048;

/// Pool pays for blocks of these sizes if ranks share processors, if the places take enough of them, and if there are
/// so many bytes that mapping the places is worth it.
constexpr std::uint64_t k_least_bytes_to_pool = 1024;
constexpr std::uint64_t k_most_bytes_to_pool = 16384;
constexpr std::uint64_t k_least_places = 16;
constexpr std::uint64_t k_least_array_to_pool = 4 << 20;

constexpr int k_nothing_forced = -1;
std::atomic<int> forced_form{k_nothing_forced};

bool is_forced(TokenForm form) noexcept {
    return forced_form.load(std::memory_order_relaxed) == static_cast<int>(form);
}

std::size_t places_for(MapFacts const& facts, std::uint64_t block_bytes) {
    return TokenMemory::of(facts.staging, block_bytes, facts.ranks, facts.node->size(),
                           facts.node->size() == facts.ranks)
        .places;
}

bool pool_is_possible(MapFacts const& facts, std::uint64_t block_bytes) {
    return facts.node != nullptr && facts.node->has_rings() && facts.node->may_map() &&
           places_for(facts, block_bytes) >= 2;
}

bool pool_pays(MapFacts const& facts, std::uint64_t block_bytes) {
    return facts.node->is_crowded() && block_bytes >= k_least_bytes_to_pool && block_bytes <= k_most_bytes_to_pool &&
           facts.most_slots >= k_least_array_to_pool / block_bytes && places_for(facts, block_bytes) >= k_least_places;
}

bool scan_pays(MapFacts const& facts, std::uint64_t block_bytes) {
    return block_bytes <= (facts.node->is_crowded() ? k_most_bytes_to_scan_crowded : k_most_bytes_to_scan);
}

}  // namespace

bool scan_is_possible(MapFacts const& facts) {
    node::Node const* const node = facts.node;
    return node != nullptr && node->has_rings() && node->size() == facts.ranks &&
           node->largest_packet() >= 2 * k_most_bytes_to_scan_crowded - 64 &&
           facts.most_slots <= std::numeric_limits<std::uint32_t>::max();
}

TokenForm token_form(MapFacts const& facts, std::uint64_t block_bytes, bool may_share) {
    bool const is_any_forced = forced_form.load(std::memory_order_relaxed) != k_nothing_forced;
    if (may_share && pool_is_possible(facts, block_bytes) &&
        (is_any_forced ? is_forced(TokenForm::pool) : pool_pays(facts, block_bytes)))
        return TokenForm::pool;
    if (scan_is_possible(facts) && !is_forced(TokenForm::chain) && scan_pays(facts, block_bytes))
        return TokenForm::scan;
    return TokenForm::chain;
}

ForcedTokenForm::ForcedTokenForm(std::optional<TokenForm> form) noexcept {
    forced_form.store(form ? static_cast<int>(*form) : k_nothing_forced, std::memory_order_relaxed);
}

ForcedTokenForm::~ForcedTokenForm() {
    forced_form.store(k_nothing_forced, std::memory_order_relaxed);
}

}  // namespace sluice::redistribution
