// SPDX-License-Identifier: BSD-3-Clause
/// How the members of a communicator compare the collective calls that they are in. No MPI here: messages go through
/// Exchange.
///
///     agree      each member joins what it knows with what comes from 1, 2, 4, … members before it: after log2(P)
///                rounds each knows whether all calls are alike (dissemination: Hensgen, Finkel, Manber 1988)
///     compare    members whose functions have sizes of their own for each pair send each other the word of the pair,
///                k_window pairs at once; then they agree once more
///     tell       after a mismatch: the first member collects what each calls and gives all of them one text
///
/// Members in different functions take part in the same first step, so none waits for a message that another does not
/// send. Memory does not grow with the number of members.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "types/signature.hpp"

namespace sluice::plugin {

/// Messages between the members of one communicator; each arrives in the order in which its sender sent.
class Exchange {
  public:
    virtual ~Exchange() = default;
    /// Sends one message and receives one at the same time. Of equal lengths, or empty: then it is not sent.
    struct Leg {
        int to = 0;
        std::span<std::byte const> out;
        int from = 0;
        std::span<std::byte> in;
    };
    /// All of them at once; returns when all are complete.
    virtual void run(std::span<Leg const> legs) = 0;
};

/// What has to be alike on all members of a call.
struct Facts {
    std::uint32_t function = 0;
    std::int32_t root = -1;
    types::SignatureWord data;  ///< unknown: nothing that all members have in common
    bool mismatch = false;

    Facts joined(Facts const& other) const noexcept;
};

class Comparison {
  public:
    Comparison(Exchange& exchange, int rank, int size) : exchange_(exchange), rank_(rank), size_(size) {}

    /// The same on all members: true if their facts are alike.
    bool agree(Facts const& mine);

    using Words = std::function<types::SignatureWord(int member)>;
    /// Every member has a word for data to each member and for data from it. Member whose data do not match, or −1.
    int compare_pairs(Words const& gives, Words const& takes);
    /// The root has a word for each member, which has one. On the root a member that does not match, or −1.
    int compare_with_root(int root, types::SignatureWord mine, Words const& of_member);

    static constexpr std::size_t k_text = 180;
    static constexpr std::size_t k_told = 1000;
    /// What all members are told: each call and the ranks that are in it. Short enough for one line of say().
    std::array<char, k_told> tell(std::string const& mine);

  private:
    static constexpr int k_window = 32;
    using Text = std::array<char, k_text>;

    void exchange_one(Exchange::Leg const& leg) { exchange_.run({&leg, 1}); }

    Exchange& exchange_;
    int rank_;
    int size_;
};

/// Calls and the ranks that are in them, as one text. At most k_groups different calls are named.
class CallsByRank {
  public:
    /// In the order of ranks.
    void add(int rank, std::string const& call);
    std::string text() const;

  private:
    static constexpr std::size_t k_groups = 4;
    static constexpr std::size_t k_most_ranks = 40;
    struct Group {
        std::string call;
        std::string ranks;
        int members = 0;
        int last = -2;
        bool in_range = false;
    };

    std::array<Group, k_groups> groups_;
    std::size_t named_ = 0;
    int others_ = 0;
};

}  // namespace sluice::plugin
