// SPDX-License-Identifier: BSD-3-Clause
// The rule when a held send is let go, over all small programs. Ranks send and receive in a fixed order; each send is a
// mark, the worst case. A program that ends whatever the order of its steps, if MPI buffers all that it sends, must end
// under flood control as well. A state without a step stays as it is until time passes; then a hold ends by the rule.
//
//     programs of the ranks ──> all orders with unbounded buffers: does each end? ── yes ──> all orders under the rule
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

#include "plugin/services/flood/hold_rule.hpp"

namespace sluice::plugin {
namespace {

constexpr int k_any = -1;

struct Step {
    enum class Kind : std::uint8_t { send, receive } kind;
    int peer;  ///< of a receive: k_any for any source
};
using Program = std::vector<Step>;
using Programs = std::vector<Program>;

/// What is on its way, by receiver and sender, and what each rank waits for.
struct State {
    static constexpr int k_ranks = 3;
    std::array<std::uint8_t, k_ranks> at{};
    std::array<std::array<std::uint8_t, k_ranks>, k_ranks> sent{};
    std::array<std::array<std::uint8_t, k_ranks>, k_ranks> matched{};
    /// The mark to this rank that the rank is held for is number `held` − 1; 0: it is not held.
    std::array<std::uint8_t, k_ranks> held{};
    std::array<std::uint8_t, k_ranks> held_for{};
    auto operator<=>(State const&) const = default;
};

enum class Rule {
    none,    ///< nothing is held: unbounded buffers
    never,   ///< a hold ends when its mark is matched
    silent,  ///< also when its receiver completes no receive
    both,    ///< also after the longest hold
};

class Explorer {
  public:
    Explorer(Programs programs, Rule rule) : programs_(std::move(programs)), rule_(rule) {}
    /// No order of steps comes to a state from which nothing goes on and some rank is not at its end.
    bool always_ends() {
        explore(State());
        return !stuck_;
    }

  private:
    bool is_over(State const& s, std::size_t rank) const { return s.at[rank] == programs_[rank].size(); }

    void explore(State const& s) {
        if (stuck_ || !seen_.insert(s).second) return;
        bool moved = false;
        for (std::size_t rank = 0; rank < programs_.size(); ++rank)
            moved = step(s, rank) || moved;
        if (moved) return;
        if (rule_ == Rule::both && let_go(s)) return;
        for (std::size_t rank = 0; rank < programs_.size(); ++rank)
            stuck_ = stuck_ || s.held[rank] != 0 || !is_over(s, rank);
    }

    bool step(State const& s, std::size_t rank) {
        if (s.held[rank] != 0) return end_hold(s, rank);
        if (is_over(s, rank)) return false;
        Step const& next = programs_[rank][s.at[rank]];
        if (next.kind == Step::Kind::send) return send(s, rank, static_cast<std::size_t>(next.peer));
        bool received = false;
        for (std::size_t from = 0; from < programs_.size(); ++from)
            if (next.peer == k_any || next.peer == static_cast<int>(from))
                received = receive(s, rank, from) || received;
        return received;
    }

    bool send(State s, std::size_t rank, std::size_t to) {
        ++s.at[rank];
        if (rule_ != Rule::none && s.sent[to][rank] > s.matched[to][rank]) {
            s.held[rank] = s.sent[to][rank];
            s.held_for[rank] = static_cast<std::uint8_t>(to);
        }
        ++s.sent[to][rank];
        explore(s);
        return true;
    }

    bool receive(State s, std::size_t rank, std::size_t from) {
        if (s.sent[rank][from] == s.matched[rank][from]) return false;
        ++s.matched[rank][from];
        ++s.at[rank];
        explore(s);
        return true;
    }

    bool end_hold(State s, std::size_t rank) {
        std::size_t const to = s.held_for[rank];
        bool const matched = s.matched[to][rank] >= s.held[rank];
        if (!matched && !(rule_ >= Rule::silent && is_silent(s, to))) return false;
        s.held[rank] = 0;
        explore(s);
        return true;
    }

    /// The receiver can complete no receive before something else happens: then it may be seen to be silent. One that
    /// receives from others again and again is not, as long as there are messages for it.
    bool is_silent(State const& s, std::size_t rank) const {
        if (s.held[rank] != 0 || is_over(s, rank)) return true;
        Step const& next = programs_[rank][s.at[rank]];
        if (next.kind != Step::Kind::receive) return true;
        for (std::size_t from = 0; from < programs_.size(); ++from)
            if ((next.peer == k_any || next.peer == static_cast<int>(from)) &&
                s.sent[rank][from] > s.matched[rank][from])
                return false;
        return true;
    }

    /// Time passes: every held send may be let go, one after the other.
    bool let_go(State const& s) {
        bool any = false;
        for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
            if (s.held[rank] == 0) continue;
            State next = s;
            next.held[rank] = 0;
            any = true;
            explore(next);
        }
        return any;
    }

    Programs programs_;
    Rule rule_;
    std::set<State> seen_;
    bool stuck_ = false;
};

bool ends(Programs const& programs, Rule rule) {
    return Explorer(programs, rule).always_ends();
}

/// All programs of `steps` steps for a rank among `ranks`.
std::vector<Program> all_programs(std::size_t rank, std::size_t ranks, std::size_t steps) {
    std::vector<Program> all{Program()};
    for (std::size_t n = 0; n < steps; ++n) {
        std::vector<Program> longer;
        for (Program const& program : all) {
            for (std::size_t peer = 0; peer < ranks; ++peer) {
                if (peer == rank) continue;
                for (auto const kind : {Step::Kind::send, Step::Kind::receive}) {
                    longer.push_back(program);
                    longer.back().push_back({kind, static_cast<int>(peer)});
                }
            }
            longer.push_back(program);
            longer.back().push_back({Step::Kind::receive, k_any});
        }
        all = std::move(longer);
    }
    return all;
}

/// Every receive has a message: else the program cannot end, and need not be looked at.
bool is_balanced(Programs const& programs) {
    for (std::size_t to = 0; to < programs.size(); ++to) {
        std::array<int, State::k_ranks> messages{};
        int left = 0;
        for (std::size_t from = 0; from < programs.size(); ++from)
            for (Step const& step : programs[from])
                if (step.kind == Step::Kind::send && step.peer == static_cast<int>(to)) ++messages[from], ++left;
        for (Step const& step : programs[to]) {
            if (step.kind != Step::Kind::receive) continue;
            if (--left < 0) return false;
            if (step.peer != k_any && --messages[static_cast<std::size_t>(step.peer)] < 0) return false;
        }
    }
    return true;
}

struct Found {
    int end_when_buffered = 0;
    int hang_when_held_for_ever = 0;
    int hang_under_the_rule = 0;
};

void look_at_each(Programs& chosen, std::size_t ranks, std::size_t steps, Found& found) {
    if (chosen.size() == ranks) {
        if (!is_balanced(chosen) || !ends(chosen, Rule::none)) return;
        ++found.end_when_buffered;
        if (!ends(chosen, Rule::never)) ++found.hang_when_held_for_ever;
        if (!ends(chosen, Rule::both)) ++found.hang_under_the_rule;
        return;
    }
    for (Program const& program : all_programs(chosen.size(), ranks, steps)) {
        chosen.push_back(program);
        look_at_each(chosen, ranks, steps, found);
        chosen.pop_back();
    }
}

Found look_at_all(std::size_t ranks, std::size_t steps) {
    Found found;
    Programs chosen;
    look_at_each(chosen, ranks, steps, found);
    return found;
}

TEST(FloodRule, lets_every_program_of_two_ranks_end) {
    Found const found = look_at_all(2, 5);
    EXPECT_GT(found.end_when_buffered, 100);
    EXPECT_GT(found.hang_when_held_for_ever, 0) << "the model does not see what holding can do";
    EXPECT_EQ(found.hang_under_the_rule, 0);
}

TEST(FloodRule, lets_every_program_of_three_ranks_end) {
    Found const found = look_at_all(3, 3);
    EXPECT_GT(found.end_when_buffered, 100);
    EXPECT_EQ(found.hang_under_the_rule, 0);
}

/// B goes on receiving from D until A, held in a send that B will match later, tells D to stop. B is never silent: the
/// time alone ends the hold.
TEST(FloodRule, needs_the_longest_hold_for_a_receiver_that_goes_on_receiving) {
    HoldRule rule(std::chrono::milliseconds(10), std::chrono::milliseconds(1000), {}, 0);
    HoldRule::Time now{};
    std::uint64_t receives = 0;
    HoldRule::Verdict verdict = HoldRule::Verdict::keep;
    while (verdict == HoldRule::Verdict::keep && receives < 1'000'000) {
        now += std::chrono::milliseconds(1);
        verdict = rule.ask(now, ++receives);
    }
    EXPECT_EQ(verdict, HoldRule::Verdict::too_long);
    EXPECT_EQ(receives, 1000u);
}

}  // namespace
}  // namespace sluice::plugin
