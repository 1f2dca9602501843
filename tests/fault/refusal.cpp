// SPDX-License-Identifier: BSD-3-Clause
#include "fault/refusal.hpp"

#include <optional>

#include "redistribution/strategies/strategy.hpp"

namespace sluice::tests {

namespace {

/// Returns the name of the block in slot `slot` of `rank`.
std::uint64_t name_at(int rank, std::uint64_t slot) {
    return static_cast<std::uint64_t>(rank) * 1'000'000 + slot;
}

/// Collective. Returns the text of rank 0 on every rank.
std::string text_of_rank_0(std::string text) {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

}  // namespace

std::vector<Strategy> all_strategies() {
    std::vector<Strategy> all;
    for (redistribution::StrategyEntry const& entry : redistribution::strategies())
        all.push_back(entry.id);
    all.push_back(Strategy::automatic);
    return all;
}

std::string strategy_test_name(testing::TestParamInfo<Strategy> const& tested) {
    return std::string(name_of(tested.param));
}

Bed::Bed(Context& context, std::uint64_t count)
    : context_(context), rank_(context.rank()), ranks_(context.size()), array_(count, 24) {
    fill();
}

void Bed::fill() {
    for (std::uint64_t slot = 0; slot < array_.count(); ++slot)
        array_.fill(slot, name_at(rank_, slot), 0);
}

std::vector<Destination> Bed::next_rank() const {
    std::vector<Destination> map;
    for (std::uint64_t slot = 0; slot < array_.count(); ++slot)
        map.push_back({(rank_ + 1) % ranks_, static_cast<std::int64_t>(slot)});
    return map;
}

void Bed::expect_refused(std::function<void()> const& call, ErrorCode code, std::vector<std::string> const& words) {
    std::optional<ErrorCode> caught;
    std::string text = "nothing was thrown";
    try {
        call();
    } catch (Error const& error) {
        caught = error.code();
        text = error.what();
    } catch (std::exception const& error) {
        text = std::string("an exception that is no sluice::Error: ") + error.what();
    }
    EXPECT_EQ(caught, code) << text;
    EXPECT_EQ(text, text_of_rank_0(text));
    for (std::string const& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
    expect_untouched();
}

void Bed::expect_untouched() const {
    for (std::uint64_t slot = 0; slot < array_.count(); ++slot)
        if (!array_.holds(slot, name_at(rank_, slot), 0)) {
            ADD_FAILURE() << "slot " << slot << " has changed";
            break;
        }
    EXPECT_TRUE(array_.guards_are_whole());
    MPI_Barrier(MPI_COMM_WORLD);
}

void Bed::expect_working(Strategy strategy) {
    RedistributeOptions options;
    options.strategy = strategy;
    redistribute(context_, blocks(), next_rank(), options);
    int const source = (rank_ + ranks_ - 1) % ranks_;
    for (std::uint64_t slot = 0; slot < array_.count(); ++slot)
        EXPECT_TRUE(array_.holds(slot, name_at(source, slot), 0)) << "slot " << slot;
    EXPECT_TRUE(array_.guards_are_whole());
    fill();
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace sluice::tests
