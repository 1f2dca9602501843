// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Publish and fetch: communication memory under tokens (Y. Shi, G. Zheng, L. V. Kale, "Run-time Support for
/// Controlling Communication-Induced Memory Fluctuation", 2007). An owner publishes data in place and packs them only
/// when a reader that has memory for them asks; a task that fetches waits while others run.
///
///     owner                                 reader
///     publish(key, bytes, pack)             co_await fetch_all(keys)      1 the application poses a tentative fetch
///                                           [ set | set | set ]          2 queued; granted whole, when tokens allow
///     request  <──────────────────────────── slot                        3 the owner's runtime receives it
///     pack(buffer), under a serving token                                 4, 5 the owner's application returns data
///     buffer   ────────────────────────────> buffer, allocated on arrival 6
///                                           FetchResult                  7 delivered; its end gives the tokens back
///
/// M is the memory of the machine or its limit, M_A is what the program itself uses, and M_C = M - M_A - reserve is
/// what communication may use for a moment (Context::budget()). Tokens are bytes of M_C, or messages if
/// Settings::tokens is not 0.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/tasks.hpp"
#include "sluice/units.hpp"

namespace sluice {

namespace fetch {
struct FetchSet;
struct Buffer;
struct DeliveryWait;
class StoreState;
}  // namespace fetch

/// The name of published data, valid on every rank. It names one publication only.
struct Key {
    int owner = 0;            ///< rank in the store's context that publishes or sends the data
    std::uint64_t id = 0;     ///< chosen by the owner
    std::uint64_t epoch = 0;  ///< chosen by the owner, for example the iteration; see Store::close()
    bool operator==(Key const&) const = default;
};

/// One fetch of a set.
struct FetchRequest {
    /// A size that the reader does not know: the owner is asked first.
    static constexpr Bytes k_any{~std::uint64_t{0}};
    Key key;              ///< what to fetch
    Bytes bytes = k_any;  ///< size of the published data
};

/// The data of a complete set, in the order of its requests. Movable; when it dies, its tokens are given back, so that
/// other sets can be fetched. It may outlive the store. Two sets that fetched the same key at once may share its bytes,
/// which nothing changes.
class SLUICE_API FetchResult {
  public:
    FetchResult() = default;
    /// The number of requests.
    std::size_t size() const noexcept;
    /// The data of one request; this object owns them.
    /// @param i number of the request, less than size()
    /// @throws Error invalid_argument for another number, for example if the result was moved from
    std::span<std::byte const> operator[](std::size_t i) const;
    /// The data of one request as elements of a trivially copyable type; bytes after the last whole element are left
    /// out.
    /// @param i number of the request, less than size()
    template <typename T>
    std::span<T const> as(std::size_t i) const {
        auto const bytes = (*this)[i];
        return {reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T)};
    }

  private:
    friend struct fetch::FetchSet;
    std::vector<std::shared_ptr<fetch::Buffer>> buffers_;
};

/// What `co_await store.fetch_all(...)` is made of.
struct [[nodiscard]] SLUICE_API FetchAwaiter {
    explicit FetchAwaiter(std::shared_ptr<fetch::FetchSet> posted) noexcept : set(std::move(posted)) {}
    FetchAwaiter(FetchAwaiter const&) = delete;
    FetchAwaiter& operator=(FetchAwaiter const&) = delete;
    ~FetchAwaiter();
    bool await_ready() const noexcept;
    void await_suspend(detail::SuspendedTask waiting) const noexcept;
    FetchResult await_resume() const;
    std::shared_ptr<fetch::FetchSet> set;
};

/// What `co_await store.all_have_it(key)` and `all_have_them(keys)` are made of.
struct [[nodiscard]] SLUICE_API DeliveryAwaiter {
    DeliveryAwaiter(std::shared_ptr<fetch::DeliveryWait> posted) noexcept : wait(std::move(posted)) {}
    DeliveryAwaiter(DeliveryAwaiter const&) = delete;
    DeliveryAwaiter& operator=(DeliveryAwaiter const&) = delete;
    ~DeliveryAwaiter();
    bool await_ready() const noexcept;
    void await_suspend(detail::SuspendedTask waiting) const noexcept;
    void await_resume() const;
    std::shared_ptr<fetch::DeliveryWait> wait;  // null: all readers have it already
};

/// The figures of a store on this rank, from its creation on.
struct StoreReport {
    std::uint64_t sets = 0;                 ///< complete sets
    std::uint64_t fetched = 0;              ///< publications fetched from other ranks
    std::uint64_t fetched_here = 0;         ///< publications fetched from this rank
    std::uint64_t reused = 0;               ///< fetches that found the data here, fetched for another set
    std::uint64_t served = 0;               ///< publications served to other ranks
    Bytes fetched_bytes;                    ///< bytes of all fetched data
    Bytes held;                             ///< bytes of the buffers of sets and of serving, now
    Bytes peak;                             ///< most bytes of these buffers at once
    std::uint64_t beyond = 0;               ///< sets granted beyond the limit, because nothing else would have moved
    std::uint64_t early = 0;                ///< requests that came before their publication
    std::uint64_t retried = 0;              ///< arrivals that waited for memory
    std::uint64_t read = 0;                 ///< part of `fetched`: copied directly from the owner's memory
    std::uint64_t moved_in_background = 0;  ///< looks of the helper thread that moved something (setting progress)
    std::uint64_t most_on_their_way = 0;    ///< most fetches in flight at once
    std::uint64_t sent = 0;                 ///< messages sent by `send`
    std::uint64_t received = 0;             ///< messages received by `receive_all`
    std::uint64_t compared = 0;             ///< fetched or received data that were compared (setting check)
    Bytes sent_bytes;                       ///< bytes of the messages that were sent
    Bytes received_bytes;                   ///< bytes of the messages that were received
    Bytes packed_peak;        ///< most bytes at once packed for readers that had not taken them; included in `peak`
    Bytes uncontrolled_peak;  ///< peak bytes received without a token (uncontrolled sends); included in `peak`
    Bytes unexpected;         ///< bytes, in total, of uncontrolled messages that arrived before a set waited for them
};

/// Publications and fetches of the ranks of a context. Created collectively, and destroyed by all of them. Threads:
/// one at once may use it, as its context; all callbacks run on it: inside calls that make progress on the context,
/// such as progress(), wait_until(), finish(), the destructor and Tasks::run(). Memory: for each publication about 150
/// bytes and what its function holds, for each fetch that is open about 200 bytes, and what tokens allow for.
class SLUICE_API Store {
  public:
    /// Writes published or sent data into a message: all bytes of `out`, whose size is that of the publication. It may
    /// throw: the reader's fetch then fails (of a send: the call).
    using Packer = std::function<void(std::span<std::byte> out)>;
    /// Takes the data that a DataSource was asked for, once: `bytes`, which need only be valid during the call, or
    /// `error`, which is null otherwise. Throws Error invalid_argument when it is called again.
    using DataSink = std::function<void(std::span<std::byte const> bytes, std::exception_ptr error)>;
    /// Starts to bring data into memory, and calls `sink` at once, or later on the same thread from a poll of the
    /// context.
    using DataSource = std::function<void(DataSink sink)>;

    /// Collective over the context.
    /// @param context the ranks that publish and fetch; the store keeps what it needs of it
    /// @throws Error mpi if an MPI call fails, out_of_memory
    explicit Store(Context& context);
    /// Calls finish(), unless an exception is being handled.
    ~Store();
    Store(Store const&) = delete;
    Store& operator=(Store const&) = delete;

    /// Publishes data until `readers` fetches have got them.
    /// @param key     their name; `key.owner` must be this rank
    /// @param bytes   their size
    /// @param pack    writes them into a message, each time a reader has tokens for them; the data that it reads must
    ///                stay unchanged until all readers have them
    /// @param readers number of fetches, at least 1
    ///
    /// With Settings::check "data" or "all" it is called here, too, once and into a leased buffer of that size, so that
    /// readers can compare what arrives with what was published. The same holds for contiguous data, without a call,
    /// and for publish_lazily() from the first time on that its data are brought.
    /// @throws Error invalid_argument for a key that is already published or belongs to another rank, no reader, an
    ///         empty function, a closed epoch or a finished store
    void publish(Key const& key, Bytes bytes, Packer pack, int readers = 1);
    /// Publishes contiguous data. They are sent from their place without a copy.
    /// @param key     their name; `key.owner` must be this rank
    /// @param data    the bytes, which the caller owns; they must stay unchanged until all readers have them
    /// @param readers number of fetches, at least 1
    /// @throws Error as the form with a function
    void publish(Key const& key, std::span<std::byte const> data, int readers = 1);
    /// Publishes data that are not in memory, for example on a disk (sluice/paged.hpp). Other readers are served while
    /// they are brought.
    /// @param key     their name; `key.owner` must be this rank
    /// @param bytes   their size
    /// @param source  starts to bring them, each time a reader has tokens for them
    /// @param readers number of fetches, at least 1
    /// @throws Error as publish()
    void publish_lazily(Key const& key, Bytes bytes, DataSource source, int readers = 1);

    /// `co_await store.all_have_it(key)` goes on when all readers of a publication have it, or when it is withdrawn; at
    /// once if nothing of that key is published here (any more).
    /// @param key a publication of this rank
    /// @return what a task awaits
    /// @throws Error at the co_await: invalid_argument if the store is destroyed before
    DeliveryAwaiter all_have_it(Key const& key);
    /// The same without coroutines.
    /// @param key  a publication of this rank
    /// @param done is called once, never inside this function; at the next progress() if nothing of that key is
    ///             published
    /// @throws Error invalid_argument for another rank's key
    void when_all_have_it(Key const& key, std::function<void()> done);
    /// `co_await store.all_have_them(keys)` goes on when all readers have all these publications, as all_have_it() for
    /// each of them.
    /// @param keys publications of this rank; the list may be changed after the call
    /// @return what a task awaits
    /// @throws Error as all_have_it()
    DeliveryAwaiter all_have_them(std::span<Key const> keys);
    /// `all_have_them(Key{…}, …)`.
    template <std::same_as<Key>... Keys>
    DeliveryAwaiter all_have_them(Key const& first, Keys const&... others) {
        Key const keys[]{first, others...};
        return all_have_them(std::span<Key const>(keys));
    }
    /// The same without coroutines.
    /// @param keys publications of this rank; the list may be changed after the call
    /// @param done is called once, never inside this function; at the next progress() if nothing of these keys is
    ///             published
    /// @throws Error invalid_argument for another rank's key; `done` is not called then
    void when_all_have_them(std::span<Key const> keys, std::function<void()> done);
    /// Ends a publication. Readers that wait for it or ask later get an error.
    /// @param key a publication of this rank; nothing happens if it is over
    /// @throws Error invalid_argument for another rank's key
    void withdraw(Key const& key);
    /// Promises that this rank will publish and send nothing more for epochs up to `epoch`. A fetch of a key that does
    /// not exist then fails instead of waiting.
    /// @param epoch the last closed epoch
    void close(std::uint64_t epoch);

    /// `auto faces = co_await store.fetch_all(requests)` fetches a set, which is posted at once and granted as a whole.
    /// The data may be published later.
    /// @param requests the set; the list may be changed after the call
    /// @return what a task awaits; the co_await gives a FetchResult
    /// @throws Error at the co_await, with both ranks in its text: invalid_argument for a key that is unknown,
    ///         withdrawn or of another size, if the owner threw while it packed, or, with Settings::check "data" or
    ///         "all", if the data have changed since they were published; out_of_memory if the set alone exceeds what
    ///         the budget can ever be
    FetchAwaiter fetch_all(std::span<FetchRequest const> requests);
    /// `fetch_all(FetchRequest{key, bytes}, …)`. (GCC 12 cannot compile a co_await of a braced list.)
    template <std::same_as<FetchRequest>... Requests>
    FetchAwaiter fetch_all(FetchRequest const& first, Requests const&... others) {
        FetchRequest const requests[]{first, others...};
        return fetch_all(std::span<FetchRequest const>(requests));
    }
    /// The same without coroutines.
    /// @param requests the set; the list may be changed after the call
    /// @param done     is called once, never inside this function, with the data and a null pointer, or with an empty
    ///                 result and the error; it may call the store
    void fetch_all(std::span<FetchRequest const> requests, std::function<void(FetchResult, std::exception_ptr)> done);

    /// The send-based scheme, for programs that must push. `pack` is called at once; its data stay in memory here,
    /// whose size nothing bounds, until they have left. With Settings::send_control "on" they leave when the reader
    /// waits for them and has tokens, otherwise at once. If it throws, nothing has been sent.
    /// @param reader rank that receives the data with receive_all(), once
    /// @param key    their name; `key.owner` must be this rank
    /// @param bytes  their size
    /// @param pack   writes them
    /// @throws Error invalid_argument for another rank's key, a reader outside the context, a closed epoch, a finished
    ///         store, or data sent to that reader before that it has not taken; out_of_memory; or what `pack` throws
    void send(int reader, Key const& key, Bytes bytes, Packer const& pack);
    /// Sends contiguous data.
    /// @param reader rank that receives the data with receive_all(), once
    /// @param key    their name; `key.owner` must be this rank
    /// @param data   the bytes, which are copied, so the caller may overwrite them after the call
    /// @throws Error as the form with a function
    void send(int reader, Key const& key, std::span<std::byte const> data);

    /// `auto faces = co_await store.receive_all(requests)` receives a set of data that their owners send to this rank.
    /// Each message is received once.
    /// @param requests the set; the list may be changed after the call
    /// @return what a task awaits; the co_await gives a FetchResult
    /// @throws Error at the co_await, with both ranks in its text: invalid_argument if another number of bytes
    ///         was sent, or if the owner will not send the data any more (closed, finished), has sent them twice, or
    ///         they were received already; out_of_memory if the set alone exceeds what the budget can ever be. The
    ///         other messages of a failed set remain for later sets.
    FetchAwaiter receive_all(std::span<FetchRequest const> requests);
    /// `receive_all(FetchRequest{key, bytes}, …)`.
    template <std::same_as<FetchRequest>... Requests>
    FetchAwaiter receive_all(FetchRequest const& first, Requests const&... others) {
        FetchRequest const requests[]{first, others...};
        return receive_all(std::span<FetchRequest const>(requests));
    }
    /// The same without coroutines, like that form of fetch_all().
    /// @param requests the set; the list may be changed after the call
    /// @param done     is called once, with the data or an error
    void receive_all(std::span<FetchRequest const> requests, std::function<void(FetchResult, std::exception_ptr)> done);

    /// Moves what can be moved, without waiting. Tasks call it between tasks. A long task should call it now and then,
    /// because peers wait for the data that this rank serves.
    /// @return true if something moved
    /// @throws Error mpi if an MPI call fails; with Settings::check "data" or "all" invalid_argument if a reader got
    ///         other data than this rank has published (internal: than it has sent); and what a callback throws
    bool progress();
    /// Makes progress, and so serves peers and calls back, until `over()` returns true; for programs without tasks.
    /// @param over is called after each look
    /// @throws Error invalid_argument in a callback of this store; and as progress()
    void wait_until(std::function<bool()> const& over);
    /// The number of posted sets of this rank, fetched and received, that are not complete.
    std::uint64_t open_sets() const;
    /// Waits until every rank has finished; nothing can be published afterwards. Collective over the context.
    /// @throws Error as progress(); what a reader told of other data is thrown when all ranks have finished
    void finish();

    /// The figures of this rank until now.
    StoreReport report() const;

  private:
    friend class fetch::StoreState;
    std::unique_ptr<fetch::StoreState> state_;
};

}  // namespace sluice
