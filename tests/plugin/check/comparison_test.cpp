// SPDX-License-Identifier: BSD-3-Clause
/// The protocol of --check without MPI: each member is a thread, messages are queues.
#include "plugin/services/check/comparison.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::plugin {
namespace {

using types::Signature;
using types::SignatureWord;

/// The messages under way between all members.
class Post {
  public:
    void send(int from, int to, std::span<std::byte const> message) {
        std::lock_guard const lock(mutex_);
        boxes_[{from, to}].emplace_back(message.begin(), message.end());
        ++sent_;
        arrived_.notify_all();
    }
    void receive(int from, int to, std::span<std::byte> message) {
        std::unique_lock lock(mutex_);
        auto& box = boxes_[{from, to}];
        arrived_.wait(lock, [&] { return !box.empty(); });
        ASSERT_EQ(box.front().size(), message.size());
        std::memcpy(message.data(), box.front().data(), message.size());
        box.pop_front();
    }
    /// Returns the number of messages that were not received.
    std::size_t left() const {
        std::size_t all = 0;
        for (auto const& [pair, box] : boxes_)
            all += box.size();
        return all;
    }
    std::size_t sent() const { return sent_; }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
    std::size_t sent_ = 0;
};

class Letters : public Exchange {
  public:
    Letters(Post& post, int rank) : post_(post), rank_(rank) {}
    void run(std::span<Leg const> legs) override {
        for (Leg const& leg : legs)
            if (!leg.out.empty()) post_.send(rank_, leg.to, leg.out);
        for (Leg const& leg : legs)
            if (!leg.in.empty()) post_.receive(leg.from, rank_, leg.in);
    }

  private:
    Post& post_;
    int rank_;
};

/// Runs `member` on each of `size` members and returns their results; no message may be left over. `sent`: receives the
/// number of messages.
template <class Result>
std::vector<Result> on_all(int size, std::function<Result(Comparison&, int)> const& member,
                           std::size_t* sent = nullptr) {
    Post post;
    std::vector<Result> results(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            Letters letters(post, rank);
            Comparison comparison(letters, rank, size);
            results[static_cast<std::size_t>(rank)] = member(comparison, rank);
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(post.left(), 0U);
    if (sent != nullptr) *sent = post.sent();
    return results;
}

SignatureWord word(std::uint64_t code, std::uint64_t count = 1) {
    return SignatureWord(Signature::basic(code, 4).repeated(count));
}

constexpr int k_sizes[] = {1, 2, 3, 4, 5, 7, 8, 13};

TEST(Comparison, agrees_where_all_are_alike) {
    for (int const size : k_sizes) {
        auto const agreed = on_all<int>(size, [](Comparison& comparison, int) {
            return comparison.agree({3, 1, word(5, 100), false}) ? 1 : 0;
        });
        EXPECT_EQ(agreed, std::vector<int>(static_cast<std::size_t>(size), 1)) << size << " members";
    }
}

TEST(Comparison, any_one_different_member_is_known_to_all) {
    Facts const right{3, 1, word(5, 100), false};
    Facts const wrong[] = {{4, 1, word(5, 100), false},
                           {3, 0, word(5, 100), false},
                           {3, 1, word(5, 101), false},
                           {3, 1, word(6, 100), false},
                           {3, 1, word(5, 100), true}};
    for (int const size : k_sizes) {
        for (int odd = 0; size > 1 && odd < size; ++odd) {
            for (Facts const& facts : wrong) {
                auto const agreed = on_all<int>(size, [&](Comparison& comparison, int rank) {
                    return comparison.agree(rank == odd ? facts : right) ? 1 : 0;
                });
                EXPECT_EQ(agreed, std::vector<int>(static_cast<std::size_t>(size), 0)) << odd << " of " << size;
            }
        }
    }
}

TEST(Comparison, unknown_data_between_two_that_differ_hide_nothing) {
    for (int const size : {3, 5, 8}) {
        auto const agreed = on_all<int>(size, [&](Comparison& comparison, int rank) {
            SignatureWord const data = rank == 0 ? word(1) : rank == size / 2 ? word(2) : SignatureWord();
            return comparison.agree({3, 1, data, false}) ? 1 : 0;
        });
        EXPECT_EQ(agreed, std::vector<int>(static_cast<std::size_t>(size), 0)) << size << " members";
    }
}

TEST(Comparison, takes_a_logarithmic_number_of_messages) {
    std::size_t sent = 0;
    on_all<int>(
        8, [](Comparison& comparison, int) { return comparison.agree({}) ? 1 : 0; }, &sent);
    EXPECT_EQ(sent, 8U * 3);
}

/// Returns the word of the data from one member to another.
SignatureWord pair_word(int from, int to) {
    return word(7, static_cast<std::uint64_t>(from * 100 + to));
}

TEST(Comparison, of_pairs_finds_the_one_that_differs) {
    for (int const size : {1, 2, 3, 5, 40, 70}) {  // also more than one window
        for (int const from : {0, size - 1}) {
            for (int const to : {size / 2, size - 1}) {
                auto const wrong = on_all<int>(size, [&](Comparison& comparison, int rank) {
                    return comparison.compare_pairs([&](int member) { return pair_word(rank, member); },
                                                    [&](int member) {
                                                        return rank == to && member == from ? word(8, 5)
                                                                                            : pair_word(member, rank);
                                                    });
                });
                for (int rank = 0; rank < size; ++rank)
                    EXPECT_EQ(wrong[static_cast<std::size_t>(rank)], rank == to ? from : -1) << size << " members";
            }
        }
    }
}

TEST(Comparison, with_the_root_finds_the_member_that_differs) {
    for (int const size : {1, 2, 5, 9}) {
        int const root = size / 2;
        for (int odd = -1; odd < size; ++odd) {
            auto const wrong = on_all<int>(size, [&](Comparison& comparison, int rank) {
                return comparison.compare_with_root(root, rank == odd ? word(9) : pair_word(rank, root),
                                                    [&](int member) { return pair_word(member, root); });
            });
            for (int rank = 0; rank < size; ++rank)
                EXPECT_EQ(wrong[static_cast<std::size_t>(rank)], rank == root ? odd : -1) << size << " members";
        }
    }
}

TEST(Comparison, all_are_told_the_same) {
    auto const told = on_all<std::string>(5, [](Comparison& comparison, int rank) {
        return std::string(comparison.tell(rank == 3 ? "MPI_Reduce at b" : "MPI_Bcast at a").data());
    });
    EXPECT_EQ(told, std::vector<std::string>(5, "ranks 0-2, 4: MPI_Bcast at a; rank 3: MPI_Reduce at b"));
}

TEST(Comparison, a_text_that_is_too_long_is_cut) {
    auto const told = on_all<std::string>(2, [](Comparison& comparison, int rank) {
        return std::string(comparison.tell(std::string(10'000, rank == 0 ? 'a' : 'b')).data());
    });
    EXPECT_EQ(told[0], told[1]);
    EXPECT_EQ(told[0].size(), 2 * (Comparison::k_text - 1) + std::string("rank 0: ; rank 1: ").size());
}

TEST(CallsByRank, many_calls_and_ranks_take_a_bounded_text) {
    CallsByRank calls;
    for (int rank = 0; rank < 100'000; ++rank)
        calls.add(rank, std::string(Comparison::k_text - 1, static_cast<char>('a' + rank % 11)));
    std::string const text = calls.text();
    EXPECT_LT(text.size(), 1000U);
    EXPECT_NE(text.find("more ranks"), std::string::npos);
}

}  // namespace
}  // namespace sluice::plugin
