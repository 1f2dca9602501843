// SPDX-License-Identifier: BSD-3-Clause
/// The reader's side: phases 1, 2, 6 and 7 of a fetch.
///
///                      tokens of the tentative half: asked for at once, data come as soon as they are published
///              ┌──────────────────────────────────────────────────────────────┐
///     posted ──┤                                                              ├──> in flight ──> complete
///              └─ asked whether published ──> queue ── tokens of the other half ┘
///
/// **It always makes progress.** A set gets all its tokens at once, so no set stops half-way and waits for memory that
/// another holds. Tokens of the second half go only to sets whose data exist, so they come back; a set that waits for
/// data still to be made holds none of them. The first set gets its tokens whatever its size. If tasks hold one set
/// while they wait for another, all tokens may be held by waiting tasks. Then no set is in flight and no task runs, the
/// scheduler calls stall(), and the front of the queue is granted beyond the limit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/numbered.hpp"
#include "fetch/owner/serving.hpp"
#include "fetch/reader/fetch_queue.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/in_flight.hpp"
#include "fetch/reader/shared_data.hpp"
#include "fetch/wire.hpp"
#include "sluice/settings.hpp"

namespace sluice::fetch {

class Sending;

class Fetching final : public LocalReader {
  public:
    /// `tentative` may be null: then no set is fetched tentatively.
    Fetching(Wire& wire, budget::TokenPool* tentative, budget::TokenPool& tokens, memory::BufferMemory& memory,
             FetchOrder order, Bytes window, Bytes most_bytes)
        : wire_(&wire),
          tentative_(tentative),
          tokens_(&tokens),
          memory_(&memory),
          most_bytes_(most_bytes),
          in_flight_(wire, window),
          queue_(order, in_flight_, shared_) {}
    Fetching(Fetching const&) = delete;
    Fetching& operator=(Fetching const&) = delete;
    /// `serving` gets the requests for data of this rank itself.
    void set_serving(Serving& serving) noexcept { serving_ = &serving; }
    void set_reads(DirectReads const& reads) noexcept { reads_ = &reads; }
    void set_sending(Sending& sending) noexcept { sending_ = &sending; }

    /// Counts the set as open; returns false if it has already failed because a key names no rank. Throws
    /// std::bad_alloc before anything has changed. What follows allocates nothing but the lists of data in flight: a
    /// fetch that has no memory for these fails, as if its owner had refused it.
    bool open(std::shared_ptr<FetchSet> const& set);
    /// Phase 1.
    void post(std::shared_ptr<FetchSet> const& set);
    /// Phase 2: grants as many sets as tokens allow; returns true if one was granted.
    bool grant();
    /// Called when nothing else moves.
    void stall();
    /// Phase 7 without coroutines: calls the callbacks of complete sets. A callback may post sets; an exception that it
    /// throws leaves this function.
    bool call_back();

    /// Phase 6. Returns false if there is no memory now.
    bool arrived(int peer, std::uint32_t slot, std::size_t bytes);
    void piece_complete(std::uint32_t slot, std::size_t bytes);
    void refused(std::uint32_t slot, ErrorCode code, std::string_view text) override;
    void ready(std::uint32_t slot, std::uint64_t bytes) override;
    std::span<std::byte> room_for(std::uint32_t slot, std::uint64_t bytes) override;
    void expect_hash(std::uint32_t slot, std::uint64_t hash) override { in_flight_[slot].hash = hash; }
    void local_complete(std::uint32_t slot) override;
    void read_complete(std::uint32_t slot) override;
    void tell_endless(std::uint32_t slot, Name const& name, kernel::EndlessWaits& waits) override;
    /// The oldest set whose data have not come.
    void find_oldest(OldestWait& oldest);
    /// Whether a callback of the program, or a task, is still to be told of its set.
    bool will_call() const noexcept { return callbacks_ > 0 || !complete_.empty(); }

    /// Queues a set of pushed data, which are packed at their sender.
    void wait_for_tokens(FetchSet const& set) noexcept { queue_.add(open_, set); }
    /// True if the sizes known so far exceed what the budget can ever grant; the set then fails with that error.
    bool is_too_large(FetchSet& set) const;
    void complete(std::shared_ptr<FetchSet> const& set);
    /// This rank sent the data to itself.
    void handed_over(std::uint32_t slot, memory::BufferMemory::Block&& memory);

    /// The store is destroyed: tasks that wait for sets get an error, or their data if these are here.
    void leave_sets_behind() noexcept;

    int rank() const noexcept { return wire_->rank(); }
    std::uint64_t open_sets() const noexcept { return open_sets_; }
    bool is_quiet() const noexcept { return open_sets_ == 0; }
    /// This part's figures; all others are 0.
    StoreReport const& figures() const noexcept { return counts_; }
    void forget_peak() noexcept { counts_.most_on_their_way = in_flight_.size(); }

  private:
    void ask(std::shared_ptr<FetchSet> const& set);
    bool try_tentatively(std::shared_ptr<FetchSet> const& set);
    void enqueue(std::shared_ptr<FetchSet> const& set);
    void give(FetchSet& set, budget::Tokens tokens) noexcept;
    std::optional<Fetch> next_to_issue() noexcept;
    void issue();
    void start(Fetch const& fetch);
    bool share(Fetch const& fetch);
    void request(Fetch const& fetch);
    void tell_owner(FetchRequest const& want, Control const& control);
    bool make_room(Buffer& buffer);
    void finish_slot(std::uint32_t slot);
    bool is_as_published(InFlight::Slot const& taken);
    void fail_changed(InFlight::Slot const& taken);
    void tell_read_too(Key const& key);
    void finish_fetch(Fetch const& fetch, std::shared_ptr<Buffer> buffer);
    void fail_fetch(Fetch const& fetch, ErrorCode code, std::string_view text);
    void lack_memory(Fetch const& fetch);

    Wire* wire_;
    budget::TokenPool* tentative_;
    budget::TokenPool* tokens_;  // for data that exist
    memory::BufferMemory* memory_;
    Serving* serving_ = nullptr;
    DirectReads const* reads_ = nullptr;
    Sending* sending_ = nullptr;
    Bytes most_bytes_;  // the most that a set can ever get

    // Questions are numbered separately from the few slots, because they may wait for data that are still to be made.
    static constexpr std::uint32_t k_first_ask = 1U << 30;
    base::Numbered<Fetch> asks_;
    InFlight in_flight_;
    SharedData shared_;
    FetchQueue queue_;
    // Each open set is in one list: in the queue, in `granted_`, which has sets with tokens whose fetches have not all
    // been requested, in `complete_`, whose tasks or callbacks have not been told, or else in `open_`.
    FetchSets open_;
    FetchSets granted_;
    FetchSets complete_;
    std::uint64_t open_sets_ = 0;
    std::uint64_t callbacks_ = 0;  // open sets that have one
    StoreReport counts_;
};

}  // namespace sluice::fetch
