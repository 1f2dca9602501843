// SPDX-License-Identifier: BSD-3-Clause
/// The parts of a Store: the wire, the pools of tokens, the reader's side and the owner's side.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/context_state.hpp"
#include "fetch/background.hpp"
#include "fetch/data_check.hpp"
#include "fetch/dispatch.hpp"
#include "fetch/long_waits.hpp"
#include "fetch/mpi_wire.hpp"
#include "fetch/owner/sending.hpp"
#include "fetch/owner/serving.hpp"
#include "fetch/reader/direct_reads.hpp"
#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/fetching.hpp"
#include "fetch/reader/receiving.hpp"
#include "kernel/progress.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch {

class StoreState final : public kernel::Pollable, public Background::Looked {
  public:
    /// Allocates what it needs at first; not collective. The ranks must agree that all have it, and then connect() it.
    explicit StoreState(Context& context);
    ~StoreState();
    StoreState(StoreState const&) = delete;
    StoreState& operator=(StoreState const&) = delete;

    /// Collective.
    void connect() { wire_.connect(); }

    /// What a store holds, for tests.
    static StoreState& of(Store const& store) noexcept { return *store.state_; }
    /// For tests: after `n` more allocations of buffers the next `failures` fail.
    void fail_allocations(std::uint64_t n, std::uint64_t failures) {
        auto const held = hold();
        memory_.fail_after(n, failures);
    }

    /// While this lives the helper thread does not look at the store. Every call of the program takes one first; it
    /// locks nothing if there is no helper thread.
    using Hold = std::unique_lock<std::recursive_mutex>;
    Hold hold() { return background_ ? Hold(mutex_) : Hold(); }

    bool poll() override;
    void stall() override;
    void tell_endless(kernel::EndlessWaits& waits) override;
    void give_up(std::string const& why) override;
    bool look_in_background() noexcept override;
    /// Collective.
    void finish();
    /// Looks until `over` returns true. Throws Error(invalid_argument) inside a callback, where nothing would move.
    void wait_until(std::function<bool()> const& over);
    /// Nothing is published or under way on this rank.
    bool is_empty();
    /// report().peak and most_on_their_way are those from here on.
    void forget_peaks();
    /// Throws Error(invalid_argument) inside a callback.
    void check_no_callback(char const* what) const;

    /// Expires with this object.
    std::shared_ptr<void const> const& life() const noexcept { return life_; }

    /// A call of the program: it is inside the context, and the helper thread does not look meanwhile.
    struct Call {
        engine::Entry entry;
        Hold hold;
    };
    Call enter(char const* call) { return {engine::Entry(*context_, call), hold()}; }

    engine::ContextState& context() { return *context_; }
    Fetching& fetching() { return fetching_; }
    Serving& serving() { return serving_; }
    Sending& sending() { return sending_; }
    Receiving& receiving() { return receiving_; }
    memory::BufferMemory& memory() { return memory_; }
    LongWaits& waits() { return waits_; }
    int rank() const { return wire_.rank(); }
    StoreReport report();

  private:
    bool move();
    bool is_quiet();
    bool nothing_moves() const noexcept;
    bool has_work() const noexcept;
    void wait_for_all();
    void follow_memory();
    budget::TokenPool::Limit share_of_receiving() const;

    std::shared_ptr<engine::ContextState> context_;  // a store may outlive its Context
    memory::BufferMemory memory_;
    MpiWire wire_;
    budget::TokenPool tentative_;
    budget::TokenPool ready_;
    budget::TokenPool serving_pool_;
    budget::TokenPool packed_;  // packed_ and the next pool only count
    budget::TokenPool uncontrolled_;
    Fetching fetching_;
    Serving serving_;
    DirectReads reads_;
    Sending sending_;
    Receiving receiving_;
    DataFaults faults_;  // of this rank's data
    LongWaits waits_;
    Dispatch dispatch_;
    unsigned polls_ = 0;
    std::uint64_t looks_ = 0;  // looks at free memory that memory_ has followed
    bool polling_ = false;
    bool finished_ = false;
    std::recursive_mutex mutex_;  // recursive, because callbacks of the program call the store
    std::exception_ptr failure_;  // an exception of the helper thread, rethrown to the program
    std::optional<Background> background_;
    std::shared_ptr<void const> life_ = std::make_shared<char>();
};

}  // namespace sluice::fetch
