// SPDX-License-Identifier: BSD-3-Clause
/// A fetch set R = {F1, F2, …, Fn, W} (paper, section 3.4): fetches that are posted together, and the task that waits
/// for them all.
///
///     posted ──> (asked whether published, queued) ──> granted ──> complete
///                                             tokens for all        every fetch has its data, or an error
#pragma once

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "budget/token_pool.hpp"
#include "fetch/wire.hpp"
#include "memory/buffer_memory.hpp"
#include "sluice/error.hpp"
#include "sluice/fetch.hpp"
#include "tasks/waiting.hpp"

namespace sluice::fetch {

/// Data of one key on the reader, shared by the sets that asked for it while it was in memory.
struct Buffer {
    memory::BufferMemory::Block memory;
    std::uint64_t bytes = 0;
    budget::Tokens tokens;
    bool complete = false;
};

struct FetchSet;
/// Sets change their list without an allocation, so what has been posted always ends.
using FetchSets = std::list<std::shared_ptr<FetchSet>>;

struct FetchSet
    : tasks::Waiting<FetchResult> {  // missing: unfinished fetches, or unknown sizes while these are asked for
    std::vector<FetchRequest> wants;
    std::vector<std::shared_ptr<Buffer>> buffers;  // indexed like wants
    budget::Tokens tokens;                         // tokens that no buffer has taken yet
    std::uint64_t bytes = 0;
    FetchSets::iterator place{};      // in the list of Fetching that has it
    std::uint32_t next_to_issue = 0;  // the first of wants that has its tokens and has not been requested
    bool pushed = false;              // its data are sent, not fetched
    bool tentative = false;
    std::weak_ptr<void const> store;  // expires when the store is destroyed
    double seen = -1;                 // when LongWaits found it waiting

    bool is_left_behind() const noexcept { return !complete && store.expired(); }
    /// Throws the error of a fetch that failed, or whose store is gone.
    void rethrow() const {
        if (is_left_behind())
            throw Error(ErrorCode::invalid_argument,
                        "a fetch is awaited after the Store that it was posted to was destroyed, before its data came: "
                        "keep the Store until its tasks have ended");
        Waiting::rethrow();
    }
    /// Phase 7: hands the data to the application.
    FetchResult take() {
        FetchResult fetched;
        fetched.buffers_ = std::move(buffers);
        return fetched;
    }
};

/// One fetch of a set.
struct Fetch {
    std::shared_ptr<FetchSet> set;  // null: none
    std::uint32_t want = 0;

    FetchRequest& request() const noexcept { return set->wants[want]; }
};

struct KeyHash {
    std::size_t operator()(Key const& key) const noexcept {
        return NameHash()({key.id + static_cast<std::uint64_t>(key.owner) * 0x9e37'79b9ULL, key.epoch});
    }
};

std::string text_of(Key const& key);
/// " fetches " or " receives "
char const* verb_of(FetchSet const& set);
/// Records the set's first error, which `make` returns, or std::bad_alloc if there is no memory to make it.
template <typename Make>
void set_error(FetchSet& set, Make const& make) {
    if (set.error) return;
    try {
        set.error = std::make_exception_ptr(make());
    } catch (std::bad_alloc const&) {
        set.error = std::current_exception();
    }
}
/// The same; the text of the error names both sides.
void fail(FetchSet& set, std::size_t which, int rank, ErrorCode code, std::string_view text);
/// The same for data that arrived with another hash than they had when they were published or sent.
void fail_as_changed(FetchSet& set, std::size_t which, int rank);
/// Tells the owner of `key` that they did. A rank that reads its own data has the error at its fetch.
void tell_changed(Wire& wire, Key const& key, bool was_sent);

}  // namespace sluice::fetch
