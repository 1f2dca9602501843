// SPDX-License-Identifier: BSD-3-Clause
/// Every strategy moves every block to its place, whatever the map, and stays inside its bounds.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "property/map_case.hpp"
#include "redistribution/strategies/strategy.hpp"
#include "sluice/context.hpp"
#include "sluice/redistribute.hpp"
#include "support/effort.hpp"
#include "support/guarded_array.hpp"
#include "support/property.hpp"

namespace sluice::tests {

namespace {

// The tables of transports and of the exchange of addresses are a part of the staging, unless the staging is smaller
// than they are.
constexpr std::uint64_t k_least_staging = 32 << 10;

std::vector<Strategy> all_strategies() {
    std::vector<Strategy> all;
    for (redistribution::StrategyEntry const& entry : redistribution::strategies())
        all.push_back(entry.id);
    all.push_back(Strategy::automatic);
    return all;
}

/// Collective at the first call.
bool ranks_are_on_one_node() {
    static bool const are =
        mpi::size_of(mpi::Communicator::of_node(MPI_COMM_WORLD).get()) == mpi::size_of(MPI_COMM_WORLD);
    return are;
}

/// A Context for each transport and staging, kept from case to case, because programs use them in this way.
class Contexts {
  public:
    Context& of(MapCase const& map_case) {
        auto& context = contexts_[{map_case.transport, map_case.staging}];
        if (!context) {
            Settings settings;
            settings.transport = k_transports[map_case.transport];
            settings.staging = {map_case.staging};
            context = std::make_unique<Context>(MPI_COMM_WORLD, settings);
        }
        return *context;
    }

  private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<Context>> contexts_;
};

/// One rank's part of a case.
class Attempt {
  public:
    Attempt(MapCase const& map_case, Context& context, Strategy strategy)
        : case_(map_case), context_(context), rank_(context.rank()), destinations_(map_case.destinations(rank_)) {
        options_.strategy = strategy;
        add_array(case_.block_bytes);
        if (case_.form == Form::plan_reused) add_array(case_.block_bytes / 2 + 1);
        fill();
    }

    /// Collective. Returns what went wrong on this rank, or an empty text.
    std::string run() {
        redistribution::ForcedTokenForm const forced(k_token_forms[case_.token_form]);
        try {
            move();
        } catch (std::exception const& error) {
            problem_ << error.what() << "; ";
        }
        check_bytes();
        if (case_.form == Form::plan_reused && problem_.str().empty()) {
            fill();
            move_again();
            check_bytes();
        }
        check_report();
        return problem_.str();
    }

  private:
    void add_array(std::uint64_t block_bytes) {
        if (case_.arrays == Arrays::shared || (case_.arrays == Arrays::shared_some && rank_ % 2 == 0))
            arrays_.emplace_back(context_, destinations_.size(), block_bytes);
        else
            arrays_.emplace_back(destinations_.size(), block_bytes);
    }

    void fill() {
        for (std::size_t a = 0; a < arrays_.size(); ++a)
            for (std::uint64_t slot = 0; slot < destinations_.size(); ++slot)
                arrays_[a].fill(slot, case_.first_of(rank_) + slot, a);
    }

    void move() {
        std::span<Destination const> list = destinations_;
        switch (case_.form) {
            case Form::short_list:
                while (!list.empty() && list.back().rank < 0)
                    list = list.first(list.size() - 1);
                [[fallthrough]];
            case Form::list:
                report_ = redistribute(context_, arrays_[0].blocks(), list, options_);
                break;
            case Form::computed:
                report_ = redistribute(
                    context_, arrays_[0].blocks(),
                    [this](std::uint64_t index, std::span<std::byte const> block) {
                        std::uint64_t const name = case_.first_of(rank_) + index;
                        if (block.size() != case_.block_bytes || block[0] != GuardedArray::byte_of(name, 0, 0))
                            problem_ << "the function was shown other bytes than those of block " << index << "; ";
                        return destinations_[index];
                    },
                    options_);
                break;
            case Form::plan_reused:
                plan_.emplace(context_, destinations_.size(), list, options_);
                move_again();
                break;
        }
    }

    void move_again() {
        std::array<Blocks, 2> const both{arrays_[0].blocks(), arrays_[1].blocks()};
        report_ = plan_->apply(both);
    }

    void check_bytes() {
        std::vector<std::uint64_t> const expected = case_.expected(rank_);
        for (std::size_t a = 0; a < arrays_.size(); ++a) {
            if (!arrays_[a].guards_are_whole()) problem_ << "bytes beside array " << a << " were written; ";
            for (std::uint64_t slot = 0; slot < expected.size(); ++slot)
                if (expected[slot] != MapCase::k_nothing && !arrays_[a].holds(slot, expected[slot], a)) {
                    problem_ << "slot " << slot << " of array " << a << " does not hold block " << expected[slot]
                             << "; ";
                    break;
                }
        }
    }

    std::uint64_t sum(std::uint64_t mine) const {
        MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return mine;
    }

    void expect_at_most(char const* what, std::uint64_t value, std::uint64_t most) {
        if (value > most) problem_ << what << " is " << value << ", more than " << most << "; ";
    }

    /// Checks the promises of the report: how many blocks were moved, and how much memory and how many requests that
    /// took.
    void check_report() {
        bool const is_one_node = ranks_are_on_one_node();
        std::uint64_t const sent = sum(report_.blocks_sent);
        std::uint64_t const received = sum(report_.blocks_received);
        std::uint64_t const least = case_.remote_blocks() * arrays_.size();
        if (sent != received) problem_ << sent << " blocks were sent but " << received << " received; ";
        if (sent < least) problem_ << "only " << sent << " blocks were sent, not " << least << "; ";
        if (report_.strategy == Strategy::automatic) problem_ << "the report names no strategy; ";
        if (report_.why.empty()) problem_ << "the report does not say why; ";
        bool const walks = report_.why.find("arrays that all ranks of the node map") != std::string::npos;
        bool const may_walk = options_.strategy == Strategy::token || options_.strategy == Strategy::automatic;
        if (may_walk && case_.arrays == Arrays::shared && context_.size() > 1 && is_one_node && !walks)
            problem_ << "shared arrays were not mapped: " << report_.why << "; ";
        check_form();
        // For several arrays the report names the strategy of the last, and each block size may have its own strategy.
        if (arrays_.size() > 1 && !is_asked_for()) return;
        if (report_.strategy == Strategy::token || report_.strategy == Strategy::alltoallv)
            if (sent != least) problem_ << sent << " blocks were sent, but once each is " << least << "; ";
        if (report_.strategy == Strategy::token) {
            expect_at_most("requests_peak", report_.requests_peak, context_.settings().outstanding_requests);
            std::uint64_t const address = case_.form == Form::computed ? 5 : 16;
            expect_at_most(
                "extra_peak", report_.extra_peak.count,
                std::max(case_.staging, k_least_staging) + address * destinations_.size() + 64 * case_.partners(rank_));
            // A block enters a slot once, and at most once more through a spare.
            expect_at_most("blocks_local", report_.blocks_local, 2 * destinations_.size() * arrays_.size());
        }
    }

    std::uint64_t counter(std::string_view name) const {
        for (CounterValue const& value : report_.counters)
            if (value.name == name) return value.value;
        return 0;
    }

    /// In form pool each block goes through one place. A smaller staging may have no room for that form.
    void check_form() {
        std::optional<redistribution::TokenForm> const form = k_token_forms[case_.token_form];
        bool const may_share = k_transports[case_.transport] == Transport::automatic;
        std::uint64_t const pieces = counter("node.place_pieces");
        if ((form == redistribution::TokenForm::chain || !may_share) && pieces > 0)
            problem_ << pieces << " blocks went through places; ";
        bool const is_pool = form == redistribution::TokenForm::pool && may_share && ranks_are_on_one_node() &&
                             context_.size() > 1 && case_.arrays == Arrays::own && case_.staging >= 2 << 20 &&
                             arrays_.size() == 1 && report_.strategy == Strategy::token;
        if (is_pool && pieces != report_.blocks_received)
            problem_ << pieces << " blocks went through places, but " << report_.blocks_received << " came; ";
    }

    bool is_asked_for() const { return options_.strategy != Strategy::automatic; }

    MapCase const& case_;
    Context& context_;
    int rank_;
    std::vector<Destination> destinations_;
    std::vector<GuardedArray> arrays_;
    RedistributeOptions options_;
    std::optional<Plan> plan_;
    RedistributionReport report_;
    std::ostringstream problem_;
};

class EveryStrategy : public testing::TestWithParam<Strategy> {
  protected:
    void check(std::vector<Form> forms, int cases) {
        int ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        // If there is little free space, parking's phases and cyclic's actions grow in number with the blocks: this is
        // inherent in them.
        std::uint64_t const most_slots = GetParam() == Strategy::parking  ? 20
                                         : GetParam() == Strategy::cyclic ? 200
                                                                          : 4000;
        Contexts contexts;
        check_on_all_ranks("strategy " + std::string(name_of(GetParam())), any_map(ranks, std::move(forms), most_slots),
                           effort(cases),
                           [&](MapCase const& drawn) { return Attempt(drawn, contexts.of(drawn), GetParam()).run(); });
    }
};

}  // namespace

TEST_P(EveryStrategy, moves_each_block_of_a_list_to_its_place) {
    check({Form::list, Form::short_list}, 100);
}

TEST_P(EveryStrategy, moves_each_block_where_a_function_says) {
    check({Form::computed}, 40);
}

TEST_P(EveryStrategy, moves_several_arrays_again_and_again_by_one_plan) {
    check({Form::plan_reused}, 40);
}

INSTANTIATE_TEST_SUITE_P(Redistribute, EveryStrategy, testing::ValuesIn(all_strategies()),
                         [](auto const& tested) { return std::string(name_of(tested.param)); });

}  // namespace sluice::tests
