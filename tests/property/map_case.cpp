// SPDX-License-Identifier: BSD-3-Clause
#include "property/map_case.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <set>

namespace sluice::tests {

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t k_block_bytes[] = {1,   2,   3,    7,    8,    24,   63,    64,    65,
                                           255, 256, 1000, 1024, 4096, 4097, 16000, 65536, 70000};
constexpr std::uint64_t k_stagings[] = {4 << 10, 64 << 10, 2 << 20};
// The bytes of all arrays together, so that a case takes milliseconds.
constexpr std::uint64_t k_most_bytes = 6 << 20;

template <typename Container>
auto pick(std::mt19937_64& random, Container const& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, std::size(from) - 1)(random)];
}

std::uint64_t draw(std::mt19937_64& random, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
}

Words draw_slots(std::mt19937_64& random, int ranks, std::uint64_t block_bytes, std::uint64_t most_slots) {
    std::uint64_t const share = k_most_bytes / static_cast<std::uint64_t>(ranks) / block_bytes;
    std::uint64_t const most = std::clamp<std::uint64_t>(share, 3, most_slots);
    bool const equal = draw(random, 2) == 0;
    std::uint64_t const each = draw(random, most);
    Words slots;
    for (int rank = 0; rank < ranks; ++rank)
        slots.push_back(equal ? each : draw(random, 4) == 0 ? 0 : draw(random, most));
    return slots;
}

/// Swaps targets so that `wanted(from, to)` holds for most pairs.
template <typename Wanted>
void prefer(std::mt19937_64& random, Words const& sources, Words& targets, Wanted wanted) {
    for (std::size_t i = 0; i < targets.size(); ++i)
        for (int tries = 0; tries < 8 && !wanted(sources[i], targets[i]); ++tries) {
            std::size_t const j = draw(random, targets.size() - 1);
            if (wanted(sources[i], targets[j])) std::swap(targets[i], targets[j]);
        }
}

MapCase draw_case(std::mt19937_64& random, int ranks, std::vector<Form> const& forms, std::uint64_t most_slots) {
    MapCase drawn;
    drawn.block_bytes = pick(random, k_block_bytes);
    drawn.staging = pick(random, k_stagings);
    // Blocks that are large in relation to the staging move in many passes, so there are fewer of them, for the sake of
    // busy machines.
    std::uint64_t const passes = 1 + 32 * drawn.block_bytes / drawn.staging;
    drawn.slots = draw_slots(random, ranks, drawn.block_bytes, 3 + most_slots / passes);
    drawn.form = pick(random, forms);
    drawn.transport = draw(random, std::size(k_transports) - 1);
    constexpr Arrays k_arrays[] = {Arrays::own, Arrays::own, Arrays::shared, Arrays::shared, Arrays::shared_some};
    drawn.arrays = pick(random, k_arrays);
    drawn.token_form = draw(random, std::size(k_token_forms) - 1);
    if (drawn.arrays == Arrays::shared) drawn.transport = 0;  // with another one they are as arrays of their own

    std::uint64_t const all = std::accumulate(drawn.slots.begin(), drawn.slots.end(), std::uint64_t{0});
    std::uint64_t live = all;
    switch (draw(random, 4)) {
        case 0:
            live = draw(random, all);
            break;  // any number of free blocks
        case 1:
            live = all - std::min(all, draw(random, 4));
            break;  // a few
        case 2:
            live = std::min(all, draw(random, 3));
            break;  // nearly all
        default:
            break;  // none
    }
    Words sources(all);
    std::iota(sources.begin(), sources.end(), 0);
    Words targets = sources;
    std::shuffle(sources.begin(), sources.end(), random);
    std::shuffle(targets.begin(), targets.end(), random);
    sources.resize(live);

    auto const rank_of = [&](std::uint64_t global) { return drawn.address(global).rank; };
    switch (draw(random, 5)) {
        case 0:
            prefer(random, sources, targets, [&](auto from, auto to) { return rank_of(from) == rank_of(to); });
            break;
        case 1:
            prefer(random, sources, targets,
                   [&](auto from, auto to) { return (rank_of(from) + 1) % ranks == rank_of(to); });
            break;
        case 2: {  // all blocks stay, or nearly all
            std::set<std::uint64_t> const stay(sources.begin(), sources.end());
            targets = sources;
            for (std::uint64_t swaps = draw(random, 3); swaps > 0 && live > 1; --swaps)
                std::swap(targets[draw(random, live - 1)], targets[draw(random, live - 1)]);
            break;
        }
        case 3: {  // one cycle through all live blocks
            std::sort(sources.begin(), sources.end());
            targets = sources;
            if (live > 0)
                std::rotate(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(draw(random, live - 1)),
                            targets.end());
            break;
        }
        default:
            break;
    }
    for (std::size_t i = 0; i < sources.size(); ++i)
        drawn.moves.emplace_back(sources[i], targets[i]);
    std::sort(drawn.moves.begin(), drawn.moves.end());
    return drawn;
}

/// Returns simpler cases, those with the greatest reduction first.
std::vector<MapCase> simpler(MapCase const& failing) {
    std::vector<MapCase> result;
    auto const with = [&](auto change) {
        result.push_back(failing);
        change(result.back());
    };
    for (std::size_t part = failing.moves.size(); part > 0; part /= 2)
        for (std::size_t first = 0; first < failing.moves.size() && result.size() < 60; first += part)
            with([&](MapCase& smaller) {
                auto const begin = smaller.moves.begin() + static_cast<std::ptrdiff_t>(first);
                smaller.moves.erase(begin,
                                    begin + static_cast<std::ptrdiff_t>(std::min(part, failing.moves.size() - first)));
            });
    if (failing.block_bytes > 1) {
        with([](MapCase& smaller) { smaller.block_bytes = 1; });
        with([](MapCase& smaller) { smaller.block_bytes /= 2; });
    }
    if (failing.form != Form::list) with([](MapCase& smaller) { smaller.form = Form::list; });
    if (failing.arrays == Arrays::shared_some) with([](MapCase& smaller) { smaller.arrays = Arrays::own; });
    if (failing.transport != 2 && failing.arrays == Arrays::own) with([](MapCase& smaller) { smaller.transport = 2; });
    if (failing.token_form != 0) with([](MapCase& smaller) { smaller.token_form = 0; });
    if (failing.staging != k_stagings[2]) with([](MapCase& smaller) { smaller.staging = k_stagings[2]; });
    return result;
}

}  // namespace

Words MapCase::encode() const {
    Words words{block_bytes, static_cast<std::uint64_t>(form),   transport,
                staging,     static_cast<std::uint64_t>(arrays), token_form,
                slots.size()};
    words.insert(words.end(), slots.begin(), slots.end());
    for (auto const& [from, to] : moves) {
        words.push_back(from);
        words.push_back(to);
    }
    return words;
}

MapCase MapCase::decode(Words const& words) {
    MapCase decoded;
    decoded.block_bytes = words[0];
    decoded.form = static_cast<Form>(words[1]);
    decoded.transport = words[2];
    decoded.staging = words[3];
    decoded.arrays = static_cast<Arrays>(words[4]);
    decoded.token_form = words[5];
    std::size_t const moves = 7 + words[6];
    decoded.slots.assign(words.begin() + 7, words.begin() + static_cast<std::ptrdiff_t>(moves));
    for (std::size_t i = moves; i < words.size(); i += 2)
        decoded.moves.emplace_back(words[i], words[i + 1]);
    return decoded;
}

Destination MapCase::address(std::uint64_t global) const {
    for (std::size_t rank = 0; rank < slots.size(); ++rank) {
        if (global < slots[rank]) return {static_cast<int>(rank), static_cast<std::int64_t>(global)};
        global -= slots[rank];
    }
    return free_block;
}

std::uint64_t MapCase::first_of(int rank) const {
    return std::accumulate(slots.begin(), slots.begin() + rank, std::uint64_t{0});
}

std::vector<Destination> MapCase::destinations(int rank) const {
    std::vector<Destination> result(slots[static_cast<std::size_t>(rank)], free_block);
    for (auto const& [from, to] : moves)
        if (Destination const here = address(from); here.rank == rank)
            result[static_cast<std::size_t>(here.index)] = address(to);
    return result;
}

Words MapCase::expected(int rank) const {
    Words result(slots[static_cast<std::size_t>(rank)], k_nothing);
    for (auto const& [from, to] : moves)
        if (Destination const there = address(to); there.rank == rank)
            result[static_cast<std::size_t>(there.index)] = from;
    return result;
}

std::uint64_t MapCase::remote_blocks() const {
    return static_cast<std::uint64_t>(std::count_if(moves.begin(), moves.end(), [this](auto const& move) {
        return address(move.first).rank != address(move.second).rank;
    }));
}

std::uint64_t MapCase::partners(int rank) const {
    std::set<int> others;
    for (auto const& [from, to] : moves) {
        int const source = address(from).rank;
        int const target = address(to).rank;
        if (source == rank) others.insert(target);
        if (target == rank) others.insert(source);
    }
    others.erase(rank);
    return others.size();
}

std::ostream& operator<<(std::ostream& out, MapCase const& map_case) {
    constexpr char const* k_forms[] = {"list", "short list", "computed", "plan"};
    constexpr char const* k_token_form_names[] = {"that pays", "pool", "chain"};
    constexpr char const* k_memories[] = {"of the ranks", "shared", "shared on some ranks"};
    out << "blocks of " << map_case.block_bytes << " bytes, " << k_forms[static_cast<std::size_t>(map_case.form)]
        << ", transport " << name_of(k_transports[map_case.transport]) << ", staging " << map_case.staging
        << ", arrays " << k_memories[static_cast<std::size_t>(map_case.arrays)] << ", form of token "
        << k_token_form_names[map_case.token_form] << ", slots";
    for (std::uint64_t const slots : map_case.slots)
        out << ' ' << slots;
    out << ", " << map_case.moves.size() << " moves";
    std::size_t shown = 0;
    for (auto const& [from, to] : map_case.moves) {
        if (++shown > 24) return out << " …";
        Destination const a = map_case.address(from);
        Destination const b = map_case.address(to);
        out << ' ' << a.rank << '.' << a.index << "->" << b.rank << '.' << b.index;
    }
    return out;
}

rc::Gen<MapCase> any_map(int ranks, std::vector<Form> forms, std::uint64_t most_slots) {
    return [=](rc::Random const& seed, int) {
        rc::Random source = seed;
        std::mt19937_64 random(source.next());
        // The size is not RapidCheck's, which grows with the number of cases: a slow machine tries only a few.
        std::uint64_t const slots = draw(random, 1) == 0 ? 8 : 8 + draw(random, most_slots);
        return rc::shrinkable::shrinkRecur(draw_case(random, ranks, forms, slots), [](MapCase const& failing) {
            return rc::seq::fromContainer(simpler(failing));
        });
    };
}

}  // namespace sluice::tests
