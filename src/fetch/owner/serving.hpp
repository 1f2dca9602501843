// SPDX-License-Identifier: BSD-3-Clause
/// The owner's side: phases 3 to 5 of a fetch. Requests that can be fulfilled wait in order for tokens to pack; at
/// least one is always under way.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "budget/token_pool.hpp"
#include "fetch/long_waits.hpp"
#include "fetch/owner/ended_waits.hpp"
#include "fetch/owner/publications.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/wire.hpp"
#include "kernel/endless_waits.hpp"

namespace sluice::fetch {

class DirectReads;

/// The reader's side on the same rank: its data are not sent, but wait for their turn like any other.
class LocalReader {
  public:
    /// Returns room for the data of `slot`; empty if there is no memory now.
    virtual std::span<std::byte> room_for(std::uint32_t slot, std::uint64_t bytes) = 0;
    /// The data of `slot` had this hash when they were published.
    virtual void expect_hash(std::uint32_t slot, std::uint64_t hash) = 0;
    virtual void local_complete(std::uint32_t slot) = 0;
    /// Like local_complete(), for data that were read in another process.
    virtual void read_complete(std::uint32_t slot) = 0;
    virtual void refused(std::uint32_t slot, ErrorCode code, std::string_view text) = 0;
    virtual void ready(std::uint32_t slot, std::uint64_t bytes) = 0;
    /// The request of `slot` waits for `name`, which is not published.
    virtual void tell_endless(std::uint32_t slot, Name const& name, kernel::EndlessWaits& waits) = 0;

  protected:
    ~LocalReader() = default;
};

class Serving {
  public:
    /// If `checks`, the hashes of publications travel with their data.
    Serving(Wire& wire, budget::TokenPool& tokens, memory::BufferMemory& memory, LocalReader& local, bool checks)
        : wire_(&wire), tokens_(&tokens), memory_(&memory), local_(&local), checks_(checks) {}
    /// Data from elsewhere arrive outside of the store's calls and take this hold first.
    void set_hold(std::function<std::unique_lock<std::recursive_mutex>()> hold) { hold_ = std::move(hold); }
    Serving(Serving const&) = delete;
    Serving& operator=(Serving const&) = delete;

    void publish(Name const& name, Publication&& publication);
    void withdraw(Name const& name);
    void close(std::uint64_t epoch);
    /// After this nothing more is published.
    void finish();
    void give_up(std::string const& why);
    Publication* find(Name const& name) { return publications_.find(name); }

    /// Phase 3: handles a request, or the question whether it can be fulfilled.
    void receive(int peer, Control const& control);
    /// `wait` waits for the readers of `name`, too, if that is published; wake_up() ends it.
    void add_wait(Name const& name, std::shared_ptr<DeliveryWait> const& wait);
    /// The next wake_up() ends `wait`, which waits for nothing.
    void call_soon(std::shared_ptr<DeliveryWait> const& wait) { ended_.add_at_once(wait); }
    void read_too(Name const& name) { ended_.add(publications_.count_reader(name)); }
    /// The data of `ticket` have left.
    void sent(std::uint64_t ticket);
    /// A reader has read the data that it was pointed to, or could not.
    void has_read(std::uint64_t ticket);
    void cannot_read(std::uint64_t ticket);
    void set_reads(DirectReads const& reads) noexcept { reads_ = &reads; }
    /// Serves the requests that can be served; returns true if there was one.
    bool serve();
    /// Serves contiguous data only, so that no code of the program runs.
    bool serve_plain();
    /// Resumes the tasks and calls the callbacks that waited until a publication was read.
    bool wake_up() { return ended_.tell(); }
    /// Tasks or callbacks have not been told yet that their publications were read.
    bool will_wake_up() const noexcept { return !ended_.empty(); }
    /// The store is destroyed: tasks that wait for readers get an error.
    void leave_waits_behind() noexcept {
        publications_.leave_waits_behind();
        ended_.leave_behind();
    }

    void tell_endless(kernel::EndlessWaits& waits) const;
    void find_oldest(OldestWait& oldest) const { publications_.find_oldest(wire_->rank(), oldest); }
    /// Why the data do not come that `reader` has asked for.
    LongWaits::State state_of(int reader, Name const& name) const;
    void tell_state(int reader, Name const& name) {
        wire_->send(reader, {Kind::state, 0, name, static_cast<std::uint64_t>(state_of(reader, name))});
    }

    /// A publication waits for readers.
    bool publishes() const noexcept { return publications_.size() > 0; }
    bool is_quiet() const noexcept {
        return queue_.empty() && coming_.empty() && under_way_.empty() && pointed_.empty();
    }
    /// This part's figures; all others are 0.
    StoreReport const& figures() const noexcept { return counts_; }

  private:
    struct Job {
        Name name;
        memory::BufferMemory::Block memory;
        budget::Tokens tokens;
    };
    struct Coming {
        Request request;
        std::uint64_t bytes;
    };
    enum class Outcome { served, no_tokens, no_memory };

    void answer_first(Requests& requests);
    void refuse_what_will_not_come();
    void refuse_as_over(Request const& request);
    template <typename Text>
    void refuse(Request const& request, Text const& text);
    void refuse(Request const& request, ErrorCode code, std::string_view text);
    Outcome serve(Request const& request);
    Outcome start(Request const& request);
    Outcome send(Request const& request, Publication& publication);
    bool point(Request const& request, Publication& publication);
    Outcome serve_here(Request const& request, Publication& publication);
    DataHash hash_when_published(Publication const& publication);
    void tell_hash(Request const& request, DataHash const& hash);
    std::uint64_t depart(Publication& publication);
    bool pack(Request const& request, Publication& publication, std::span<std::byte> out);
    Outcome bring(Request const& request, Publication& publication);
    void brought(std::uint64_t ticket, std::span<std::byte const> bytes, std::exception_ptr const& error);

    Wire* wire_;
    budget::TokenPool* tokens_;
    memory::BufferMemory* memory_;
    LocalReader* local_;
    bool checks_;
    DirectReads const* reads_ = nullptr;
    std::function<std::unique_lock<std::recursive_mutex>()> hold_;
    Publications publications_;
    EndedWaits ended_;
    Requests queue_;                                      // for published data
    std::unordered_map<std::uint64_t, Coming> coming_;    // data that are being brought from elsewhere to be sent
    std::unordered_map<std::uint64_t, Job> under_way_;    // also data that are being packed or brought to be sent
    std::unordered_map<std::uint64_t, Request> pointed_;  // requests whose reader was told the address
    std::shared_ptr<bool const> const alive_ =
        std::make_shared<bool const>(true);  // shared, because data from elsewhere may arrive after this object's end
    std::uint64_t next_ticket_ = 0;
    StoreReport counts_;
};

}  // namespace sluice::fetch
