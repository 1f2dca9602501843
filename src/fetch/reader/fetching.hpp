// SPDX-License-Identifier: BSD-3-Clause
/// The reader's side: phases 1, 2, 6 and 7 of a fetch.
///
///                      tokens of the tentative half: asked for at once, data come as soon as they are published
///              ┌──────────────────────────────────────────────────────────────┐
///     posted ──┤                                                              ├──> in flight ──> complete
///              └─ asked whether published ──> queue ── tokens of the other half ┘
///
/// **It always goes on.** A set gets all its tokens at once, so none waits in the middle for memory that another holds.
/// Tokens of the second half go only to sets whose data exist, so they come back; whoever waits for data that are still
/// to be made holds none of them. The first set gets them whatever its size. Where a task holds one set while it waits
/// for another, tokens may be held by tasks that all wait: then none of these sets is in flight and nothing runs, the
/// scheduler says so (stall), and the front of the queue is granted beyond the limit.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fetch/owner/serving.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/flight_window.hpp"
#include "fetch/wire.hpp"

namespace sluice::fetch::detail {

class Sending;

/// Which set comes next, of those that wait.
enum class FetchOrder { posted, nearly_complete, spread };

class Fetching final : public LocalReader {
  public:
    /// `tentative` may be null: then all sets go the other way.
    Fetching(Wire& wire, budget::TokenPool* tentative, budget::TokenPool& tokens, memory::BufferMemory& memory,
             FetchOrder order, Bytes window, Bytes most_bytes)
        : wire_(&wire),
          tentative_(tentative),
          tokens_(&tokens),
          memory_(&memory),
          order_(order),
          windows_(window),
          most_bytes_(most_bytes) {}
    Fetching(Fetching const&) = delete;
    Fetching& operator=(Fetching const&) = delete;
    /// Is told of requests for what this rank itself owns.
    void set_serving(Serving& serving) noexcept { serving_ = &serving; }
    void set_reads(DirectReads const& reads) noexcept { reads_ = &reads; }
    void set_sending(Sending& sending) noexcept { sending_ = &sending; }

    /// Counts it among those that are open; false where it is over already, by a key of no rank.
    bool open(std::shared_ptr<FetchSet> const& set);
    /// Phase 1.
    void post(std::shared_ptr<FetchSet> const& set);
    /// Phase 2: grants what tokens allow; true when something was.
    bool grant();
    /// Nothing else moves.
    void stall();
    /// Phase 7 without coroutines: calls those whose sets are complete. What they call may post sets; what they throw
    /// comes out here.
    bool call_back();

    /// Phase 6. False where there is no memory now.
    bool arrived(int peer, std::uint32_t slot, std::size_t bytes);
    void piece_complete(std::uint32_t slot, std::size_t bytes);
    void refused(std::uint32_t slot, std::string const& text) override;
    void ready(std::uint32_t slot, std::uint64_t bytes) override;
    std::span<std::byte> room_for(std::uint32_t slot, std::uint64_t bytes) override;
    void local_complete(std::uint32_t slot) override;
    void read_complete(std::uint32_t slot) override;

    /// What was pushed: its data lie packed where they were sent.
    void wait_for_tokens(std::shared_ptr<FetchSet> const& set) { queue_.push_back(set); }
    /// As far as its sizes are known; then it has the error that says so.
    bool is_too_large(FetchSet& set) const;
    void complete(std::shared_ptr<FetchSet> const& set);
    /// This rank sent it to itself.
    void handed_over(std::uint32_t slot, memory::BufferMemory::Block&& memory);

    std::uint64_t open_sets() const noexcept { return open_sets_; }
    bool is_quiet() const noexcept { return open_sets_ == 0; }
    void fill(StoreReport& report) const;

  private:
    struct Slot {
        std::shared_ptr<FetchSet> set;  // null: free
        std::uint32_t want = 0;
        std::shared_ptr<Buffer> buffer;
        std::uint64_t received = 0;
        std::uint64_t complete = 0;
        std::uint64_t bytes = 0;  // that are to come
        FlightWindow::Departure departure;
    };
    struct Fetch {
        std::shared_ptr<FetchSet> set;
        std::uint32_t want;
    };
    /// Data that are here, or on their way to here, and the fetches of other sets that wait for them.
    struct Here {
        std::weak_ptr<Buffer> buffer;
        std::vector<Fetch> waiting;
    };

    void ask(std::shared_ptr<FetchSet> const& set);
    Fetch take_ask(std::uint32_t number);
    bool try_tentatively(std::shared_ptr<FetchSet> const& set);
    void enqueue(std::shared_ptr<FetchSet> const& set);
    std::size_t next_set();
    std::uint64_t cost_of(FetchSet const& set) const;
    void give(std::shared_ptr<FetchSet> const& set, budget::Tokens tokens);
    bool has_room(Want const& want, FlightWindow::Data data);
    void issue();
    void start(Fetch const& fetch);
    bool attach_to_what_is_here(Fetch const& fetch);
    std::uint32_t take_slot(Fetch const& fetch);
    void free_slot(std::uint32_t slot);
    void request(Fetch const& fetch);
    void tell_owner(Want const& want, Control const& control);
    bool make_room(Slot& slot);
    void no_longer_in_flight(Slot const& slot);
    void finish_slot(std::uint32_t slot);
    void tell_read_too(Key const& key);
    void finish_fetch(Fetch const& fetch, std::shared_ptr<Buffer> buffer);
    void fail_fetch(Fetch const& fetch, std::string const& text);
    void sweep();

    Wire* wire_;
    budget::TokenPool* tentative_;
    budget::TokenPool* tokens_;  // for data that exist
    memory::BufferMemory* memory_;
    Serving* serving_ = nullptr;
    DirectReads const* reads_ = nullptr;
    Sending* sending_ = nullptr;
    FetchOrder order_;
    FlightWindows windows_;
    Bytes most_bytes_;  // that a set can ever get

    std::deque<std::shared_ptr<FetchSet>> queue_;
    std::deque<Fetch> to_issue_;
    std::deque<std::shared_ptr<FetchSet>> complete_;  // and nobody has been told
    // Questions are numbered apart from slots, which are few: they may wait for data that are still to be made.
    static constexpr std::uint32_t k_first_ask = 1U << 30;
    std::vector<Fetch> asks_;
    std::vector<std::uint32_t> free_asks_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::unordered_map<Key, Here, KeyHash> here_;
    std::unordered_map<int, std::uint32_t> asked_of_;  // fetches in flight, by owner
    std::size_t sweep_at_ = 1024;
    std::size_t in_flight_ready_ = 0;  // fetches whose data exist
    std::uint64_t open_sets_ = 0;
    StoreReport counts_;
};

}  // namespace sluice::fetch::detail
