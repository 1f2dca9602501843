// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/check/comparison.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace sluice::plugin {

namespace {

using types::SignatureWord;

/// Facts as they are sent: the same layout on every member.
struct Letter {
    std::uint32_t function;
    std::int32_t root;
    std::uint64_t data;
    std::uint64_t mismatch;
};

Letter letter_of(Facts const& facts) noexcept {
    return {facts.function, facts.root, facts.data.bits(), facts.mismatch ? 1U : 0U};
}

Facts facts_of(Letter const& letter) noexcept {
    return {letter.function, letter.root, SignatureWord::of_bits(letter.data), letter.mismatch != 0};
}

template <class T>
std::span<std::byte const> out_of(T const& value) {
    return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> into(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

Facts Facts::joined(Facts const& other) const noexcept {
    Facts both = *this;
    both.mismatch =
        mismatch || other.mismatch || function != other.function || root != other.root || !data.matches(other.data);
    both.data = data.stricter(other.data);
    return both;
}

bool Comparison::agree(Facts const& mine) {
    Facts known = mine;
    for (int distance = 1; distance < size_; distance *= 2) {
        Letter const out = letter_of(known);
        Letter in{};
        exchange_one({(rank_ + distance) % size_, out_of(out), (rank_ - distance + size_) % size_, into(in)});
        known = known.joined(facts_of(in));
    }
    return !known.mismatch;
}

int Comparison::compare_pairs(Words const& gives, Words const& takes) {
    int wrong = gives(rank_).matches(takes(rank_)) ? -1 : rank_;
    std::array<std::uint64_t, k_window> out{};
    std::array<std::uint64_t, k_window> in{};
    std::array<Exchange::Leg, k_window> legs{};
    for (int begin = 1; begin < size_; begin += k_window) {
        int const n = std::min(k_window, size_ - begin);
        for (int i = 0; i < n; ++i) {
            auto const at = static_cast<std::size_t>(i);
            int const to = (rank_ + begin + i) % size_;
            out[at] = gives(to).bits();
            legs[at] = {to, out_of(out[at]), (rank_ - begin - i + size_) % size_, into(in[at])};
        }
        exchange_.run(std::span(legs).first(static_cast<std::size_t>(n)));
        for (int i = 0; i < n; ++i) {
            auto const at = static_cast<std::size_t>(i);
            if (wrong < 0 && !takes(legs[at].from).matches(SignatureWord::of_bits(in[at]))) wrong = legs[at].from;
        }
    }
    return wrong;
}

int Comparison::compare_with_root(int root, SignatureWord mine, Words const& of_member) {
    if (rank_ != root) {
        std::uint64_t const out = mine.bits();
        exchange_one({root, out_of(out), root, {}});
        return -1;
    }
    int wrong = of_member(rank_).matches(mine) ? -1 : rank_;
    for (int member = 0; member < size_; ++member) {
        if (member == rank_) continue;
        std::uint64_t in = 0;
        exchange_one({member, {}, member, into(in)});
        if (wrong < 0 && !of_member(member).matches(SignatureWord::of_bits(in))) wrong = member;
    }
    return wrong;
}

std::array<char, Comparison::k_told> Comparison::tell(std::string const& mine) {
    Text text{};
    std::memcpy(text.data(), mine.data(), std::min(mine.size(), k_text - 1));
    std::array<char, k_told> told{};
    if (rank_ != 0) {
        exchange_one({0, out_of(text), 0, {}});
        exchange_one({0, {}, 0, into(told)});
        return told;
    }
    CallsByRank calls;
    auto const add = [&](int member) {
        try {
            calls.add(member, text.data());
        } catch (std::bad_alloc const&) {  // the others wait for the text, with this call or without it
        }
    };
    add(0);
    for (int member = 1; member < size_; ++member) {
        exchange_one({member, {}, member, into(text)});
        add(member);
    }
    try {
        std::string const all = calls.text();
        std::memcpy(told.data(), all.data(), std::min(all.size(), k_told - 1));
    } catch (std::bad_alloc const&) {
        std::strcpy(told.data(), "rank 0 had no memory for their names");
    }
    for (int member = 1; member < size_; ++member)
        exchange_one({member, out_of(told), member, {}});
    return told;
}

void CallsByRank::add(int rank, std::string const& call) {
    auto const end = groups_.begin() + static_cast<std::ptrdiff_t>(named_);
    auto group = std::find_if(groups_.begin(), end, [&](Group const& known) { return known.call == call; });
    if (group == end) {
        if (named_ == k_groups) {
            ++others_;
            return;
        }
        ++named_;
        group->call = call;
    }
    ++group->members;
    if (group->ranks.size() < k_most_ranks) {
        std::string const number = std::to_string(rank);
        if (group->last == rank - 1 && group->in_range)
            group->ranks.replace(group->ranks.rfind('-') + 1, std::string::npos, number);
        else
            group->ranks += group->last < 0 ? number : (group->last == rank - 1 ? "-" : ", ") + number;
        group->in_range = group->last == rank - 1;
    }
    group->last = rank;
}

std::string CallsByRank::text() const {
    std::string all;
    for (std::size_t i = 0; i < named_; ++i) {
        Group const& group = groups_[i];
        bool const cut = group.ranks.size() >= k_most_ranks;
        all += (i > 0 ? "; " : "") + std::string(group.members > 1 ? "ranks " : "rank ") + group.ranks +
               (cut ? ", …" : "") + ": " + group.call;
    }
    return all + (others_ > 0 ? "; " + std::to_string(others_) + " more ranks" : "");
}

}  // namespace sluice::plugin
