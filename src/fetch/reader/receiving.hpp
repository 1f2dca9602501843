// SPDX-License-Identifier: BSD-3-Clause
/// The reader's side of the send-based scheme (paper, section 3.3.1, figure 3a): phases 3 and 4.
///
///                  nothing heard ── offer ──> offered ─┐ all of its set: one queue with fetch sets for tokens,
///     receive_all ─┤                                   ├──> then taken from the sender's packed buffer
///                  nothing heard ── push ──> arriving ──> here: beyond any token, whether a set waits or not
///
/// A set takes its data only when all of them have been announced. Until then, and if the set fails, they stay for a
/// later set.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "budget/token_pool.hpp"
#include "fetch/data_check.hpp"
#include "fetch/owner/sending.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/fetching.hpp"
#include "fetch/recent_keys.hpp"
#include "fetch/wire.hpp"

namespace sluice::fetch {

class Receiving {
  public:
    /// Numbers that Wire::receive_data gets instead of a slot begin here.
    static constexpr std::uint32_t k_first_arrival = 1U << 31;

    /// `beyond` counts the data that arrive without tokens.
    Receiving(Wire& wire, Fetching& fetching, budget::TokenPool& beyond, memory::BufferMemory& memory)
        : wire_(&wire), fetching_(&fetching), beyond_(&beyond), memory_(&memory) {}
    Receiving(Receiving const&) = delete;
    Receiving& operator=(Receiving const&) = delete;
    void set_sending(Sending& sending) noexcept { sending_ = &sending; }

    void post(std::shared_ptr<FetchSet> const& set);
    /// Phase 2, controlled: the sender offers data. Throws std::bad_alloc; then nothing has changed, as in pushed() and
    /// here().
    void offered(int peer, Control const& control);
    /// The data go to `slot` of Fetching; data that this rank sent to itself are handed over.
    void handed_over(std::uint32_t slot, memory::BufferMemory::Block&& memory, DataHash const& hash) {
        if (hash) fetching_->expect_hash(slot, *hash);
        fetching_->handed_over(slot, std::move(memory));
    }
    /// Phase 3, uncontrolled: the data follow.
    void pushed(int peer, Control const& control, DataHash const& hash);
    /// The slot of data that were not requested.
    std::uint32_t slot() const noexcept { return wire_->push_slot(); }
    /// A piece of them has arrived. Returns false if there is no memory now.
    bool arrived(int peer, std::size_t bytes);
    void piece_complete(std::uint32_t arrival, std::size_t bytes);
    void here(Key const& key, memory::BufferMemory::Block&& memory, std::uint64_t bytes, DataHash const& hash);
    /// The sender will not send `key`.
    void unsent(Key const& key, std::string_view text);

    /// Asks the senders of data that have been waited for long (or, with `at_once`, for any time) whether they will
    /// send them; returns true if a question was sent.
    bool ask_for_late(bool at_once);

    /// Drops the data that no set has received when all ranks have finished.
    void drop() noexcept { coming_.clear(); }

    /// A question has been answered.
    void noted() noexcept { --questions_; }

    void tell_endless(kernel::EndlessWaits& waits) const;
    /// The oldest set whose data have not been announced.
    void find_oldest(OldestWait& oldest) const;
    /// Whether a sender has not answered whether it will send.
    bool is_asking() const noexcept { return questions_ > 0; }

    bool is_quiet() const noexcept { return arriving_.empty() && questions_ == 0; }
    /// This part's figures; all others are 0.
    StoreReport figures() const;

  private:
    enum class Heard : std::uint8_t { nothing, offered, arriving, here };

    /// Data sent to this rank, or waited for by one of its sets.
    struct Coming {
        std::shared_ptr<FetchSet> set;  // the set that waits for it
        std::uint32_t want = 0;
        Heard heard = Heard::nothing;
        bool twice = false;
        bool refused = false;
        bool changed = false;  // other bytes have arrived than were packed
        std::uint64_t bytes = 0;
        std::shared_ptr<Buffer> buffer;  // only for uncontrolled data
        DataHash hash{};                 // of these
    };
    /// Data on their way that were not requested.
    struct Arrival {
        Key key;
        std::shared_ptr<Buffer> buffer;
        std::uint64_t received = 0;
        std::uint64_t complete = 0;
    };
    struct Late {
        Key key;
        double since;
    };

    bool enlist(std::shared_ptr<FetchSet> const& set);
    bool enlist_all(std::shared_ptr<FetchSet> const& set);
    Coming* hear(Key const& key, std::uint64_t bytes, Heard heard);
    void settle(Coming& coming);
    void settle_one(std::shared_ptr<FetchSet> const& set);
    void take(std::shared_ptr<FetchSet> const& set);
    void give_up(std::shared_ptr<FetchSet> const& set);
    void complete(Key const& key, std::shared_ptr<Buffer> const& buffer);
    void ask_for(Key const& key);
    void ask(int sender, Name const& name);
    bool is_waited_for(Key const& key) const;

    Wire* wire_;
    Fetching* fetching_;
    budget::TokenPool* beyond_;
    memory::BufferMemory* memory_;
    Sending* sending_ = nullptr;
    std::unordered_map<Key, Coming, KeyHash> coming_;
    std::unordered_map<std::uint32_t, Arrival> arriving_;         // by number
    std::unordered_map<int, std::deque<std::uint32_t>> next_of_;  // arrivals that follow, by peer
    std::list<Late> late_;                                        // in order of posting
    RecentKeys<Key> over_;                                        // received
    std::uint32_t next_arrival_ = 0;
    std::uint64_t questions_ = 0;  // without an answer
    std::uint64_t received_ = 0;
    Bytes received_bytes_;
    Bytes unexpected_;
    std::uint64_t retried_ = 0;
    std::uint64_t compared_ = 0;
};

}  // namespace sluice::fetch
