// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Publish and fetch: communication memory under tokens (Y. Shi, G. Zheng, L. V. Kale, "Run-time Support for
/// Controlling Communication-Induced Memory Fluctuation", 2007). Data are published where they are and packed only when
/// somebody who has the memory for them asks; a task that asks waits, and others run.
///
///     owner                                 reader
///     publish(key, bytes, pack)             co_await fetch_all(keys)      1 the application poses a tentative fetch
///                                           [ set | set | set ]          2 queued; granted whole, when tokens allow
///     request  <──────────────────────────── slot                        3 the owner's runtime receives it
///     pack(buffer), under a serving token                                 4, 5 the owner's application returns data
///     buffer   ────────────────────────────> buffer, allocated on arrival 6
///                                           Fetched                      7 delivered; the tokens go back when it dies
///
/// M: memory there is. M_A: what the program itself uses. M_C = M - M_A - reserve: what communication may use for a
/// moment (Context::budget()); tokens are bytes of it, or messages where Settings::tokens is not 0.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/tasks.hpp"
#include "sluice/units.hpp"

namespace sluice::fetch {

/// What data are called everywhere.
struct Key {
    int owner = 0;            ///< rank in the store's context
    std::uint64_t id = 0;     ///< the owner's choice
    std::uint64_t epoch = 0;  ///< for example the iteration
    bool operator==(Key const&) const = default;
};

/// One fetch of a set.
struct Want {
    static constexpr std::uint64_t k_any = ~std::uint64_t{0};
    Key key;
    std::uint64_t bytes = k_any;  ///< k_any: the owner is asked first
};

namespace detail {
struct FetchSet;
struct Buffer;
struct ReadWait;
class StoreState;
}  // namespace detail

/// A complete fetch set, in the order of the wants. Movable; gives its tokens back when it dies. Two sets that fetched
/// the same key at a time may share its bytes: nobody writes to them.
class Fetched {
  public:
    Fetched() = default;
    std::size_t size() const noexcept;
    std::span<std::byte const> operator[](std::size_t i) const noexcept;
    template <typename T>
    std::span<T const> as(std::size_t i) const noexcept {
        auto const bytes = (*this)[i];
        return {reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T)};
    }

  private:
    friend struct detail::FetchSet;
    std::vector<std::shared_ptr<detail::Buffer>> buffers_;
};

/// What `co_await store.fetch_all(...)` is made of.
struct [[nodiscard]] FetchAwaiter {
    explicit FetchAwaiter(std::shared_ptr<detail::FetchSet> posted) noexcept : set(std::move(posted)) {}
    FetchAwaiter(FetchAwaiter const&) = delete;
    FetchAwaiter& operator=(FetchAwaiter const&) = delete;
    ~FetchAwaiter();
    bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept;
    Fetched await_resume() const;
    std::shared_ptr<detail::FetchSet> set;
};

/// What `co_await store.read(key)` is made of.
struct [[nodiscard]] ReadAwaiter {
    ReadAwaiter(std::shared_ptr<detail::ReadWait> posted) noexcept : wait(std::move(posted)) {}
    ReadAwaiter(ReadAwaiter const&) = delete;
    ReadAwaiter& operator=(ReadAwaiter const&) = delete;
    ~ReadAwaiter();
    bool await_ready() const noexcept { return wait == nullptr; }
    void await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept;
    void await_resume() const noexcept {}
    std::shared_ptr<detail::ReadWait> wait;  // null: it is read already
};

/// What a store has done so far on this rank, and what it holds.
struct StoreReport {
    std::uint64_t sets = 0;          ///< complete
    std::uint64_t fetched = 0;       ///< of other ranks
    std::uint64_t fetched_here = 0;  ///< of the own rank
    std::uint64_t reused = 0;        ///< that were here already, for another set
    std::uint64_t served = 0;        ///< for others
    Bytes fetched_bytes;             ///< of all these
    Bytes held;                      ///< buffers of sets and of serving, now
    Bytes peak;                      ///< and at most
    std::uint64_t beyond = 0;        ///< sets that were granted beyond the limit, because nothing else would have moved
    std::uint64_t early = 0;         ///< requests that came before their publication
    std::uint64_t retried = 0;       ///< arrivals that waited for memory
    std::uint64_t read = 0;          ///< of `fetched`: read in the owner's memory, by one copy
    std::uint64_t moved_in_background = 0;  ///< looks of the helper thread that moved something (setting progress)
    std::uint64_t most_on_their_way = 0;    ///< fetches that had been asked for and were not here, at a time
    std::uint64_t sent = 0;                 ///< messages, by `send`
    std::uint64_t received = 0;             ///< by `receive_all`
    Bytes sent_bytes;
    Bytes received_bytes;
    Bytes packed_peak;        ///< that lay packed at a time, for readers who had not taken them: part of `peak`
    Bytes uncontrolled_peak;  ///< that were here at a time beyond any token, for their sender had not asked: part of it
    Bytes unexpected;         ///< of these, that came before anybody waited for them; in all
};

/// One for each set of keys; created collectively over the context's ranks, who all must destroy it. Belongs to one
/// thread. Memory: for each publication about 150 bytes and what its function holds, for each fetch that is open about
/// 200 bytes, and what tokens allow for.
class Store {
  public:
    using Pack = std::function<void(std::span<std::byte> out)>;
    /// Of data that are not in memory: called once, with the bytes, which must be there during the call alone, or with
    /// an error.
    using Brought = std::function<void(std::span<std::byte const> bytes, std::exception_ptr error)>;
    using Bring = std::function<void(Brought brought)>;

    /// Collective. Throws Error.
    explicit Store(Context& context);
    /// finish(), unless an exception is on its way.
    ~Store();
    Store(Store const&) = delete;
    Store& operator=(Store const&) = delete;

    /// Data of `bytes` bytes that `pack` writes, each time a reader has tokens for it, until `readers` have fetched
    /// them. What `pack` reads must stay as it is until then (see `read`). `key.owner` must be this rank. Throws
    /// Error(invalid_argument) for a key that is published already or another rank's.
    void publish(Key const& key, std::uint64_t bytes, Pack pack, int readers = 1);
    /// The same for bytes that lie side by side: they are sent from where they are, without a copy.
    void publish(Key const& key, std::span<std::byte const> data, int readers = 1);

    /// The same for data that lie somewhere else, on a disk for example (sluice/paged.hpp): `bring` begins to bring
    /// them when a reader has tokens for them, and calls `brought` then, or later on the same thread from what the
    /// context polls. Others are served meanwhile.
    void publish_elsewhere(Key const& key, std::uint64_t bytes, Bring bring, int readers = 1);

    /// `co_await store.read(key)`: goes on when all readers of a publication of this rank have it, or it is withdrawn.
    ReadAwaiter read(Key const& key);
    /// Without coroutines: `done` is called from `progress`; at once there, for what is not published (any more).
    void when_read(Key const& key, std::function<void()> done);
    /// Readers that come later, and those that wait, get an error.
    void withdraw(Key const& key);
    /// Nothing more will be published or sent for epochs up to this: who asks, or has asked, for a key that does not
    /// exist gets an error.
    void close(std::uint64_t epoch);

    /// `auto faces = co_await store.fetch_all(wants)`: one fetch set, posted at once, granted whole. Throws
    /// at the co_await, with both sides named: Error(invalid_argument) for an unknown, withdrawn or wrongly sized key,
    /// or where the owner threw while it packed; Error(out_of_memory) where the set alone exceeds what the budget can
    /// ever be.
    FetchAwaiter fetch_all(std::span<Want const> wants);
    /// `fetch_all(Want{key, bytes}, …)`. (GCC 12 cannot compile a co_await of a braced list.)
    template <std::same_as<Want>... Wants>
    FetchAwaiter fetch_all(Want const& first, Wants const&... others) {
        Want const wants[]{first, others...};
        return fetch_all(std::span<Want const>(wants));
    }
    /// Without coroutines: `done` is called from `progress` (never from inside this call), with the error instead of
    /// data where there is one. It may call the store.
    void fetch_all(std::span<Want const> wants, std::function<void(Fetched, std::exception_ptr)> done);

    /// The send-based scheme, for callers that must push: `pack` is called at once, into memory that stays here until
    /// the data have left; whose size nothing bounds. With Settings::send_control "on" they leave when the reader waits
    /// for them and has tokens, otherwise at once. Throws what `pack` throws; Error(invalid_argument) where `key` is
    /// another rank's, the reader no rank of the context, the epoch closed or the store finished, or where that was
    /// sent to him already and he has not taken it; Error(out_of_memory). Nothing has been sent then.
    void send(int reader, Key const& key, std::uint64_t bytes, Pack const& pack);
    /// The same for bytes that lie side by side. They are copied: the caller may write to them afterwards.
    void send(int reader, Key const& key, std::span<std::byte const> data);

    /// `auto faces = co_await store.receive_all(wants)`: what their owners send to this rank, one set, as if fetched.
    /// Each message is received once. Throws at the co_await, with both sides named: Error(invalid_argument) for other
    /// bytes than were sent, what its owner will not send any more (closed, finished), sent twice, or received already;
    /// Error(out_of_memory) where the set alone exceeds what the budget can ever be. What else the set would have
    /// received stays for others.
    FetchAwaiter receive_all(std::span<Want const> wants);
    template <std::same_as<Want>... Wants>
    FetchAwaiter receive_all(Want const& first, Wants const&... others) {
        Want const wants[]{first, others...};
        return receive_all(std::span<Want const>(wants));
    }
    /// Without coroutines, like that fetch_all.
    void receive_all(std::span<Want const> wants, std::function<void(Fetched, std::exception_ptr)> done);

    /// Moves what can be moved, without waiting; true when something did. Tasks do it between them; a long task may
    /// call it now and then, for peers wait for what we serve.
    bool progress();
    /// For programs without tasks: makes progress, and so serves peers and calls back, until `over()`. Throws
    /// Error(invalid_argument) when it is called from a callback of this store.
    void wait_until(std::function<bool()> const& over);
    /// Fetch sets of this rank, received ones too, that are posted and not complete.
    std::uint64_t open_sets() const;
    /// Collective: until every rank has finished. Afterwards nothing is published any more. Throws what a waiting fetch
    /// of this rank throws.
    void finish();

    StoreReport report() const;

    /// For tests: after `n` more allocations of buffers the next `failures` fail.
    void fail_allocations(std::uint64_t n, std::uint64_t failures);

  private:
    std::unique_ptr<detail::StoreState> state_;
};

}  // namespace sluice::fetch
