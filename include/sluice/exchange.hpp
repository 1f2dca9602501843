// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A streamed all-to-all: each rank sends parts of any size to any ranks, and gets each part that comes in a callback,
/// one after the other. No rank needs memory for all of them at once.
///
/// MPI_Alltoallv needs a buffer for everything that comes and one for everything that leaves. Here a part that leaves
/// is made when its receiver has memory for it, and a part that has come is freed when the callback returns. How many
/// are on their way at once follows from the budget: between pairwise exchange and everything at once. (Y. Shi, G.
/// Zheng, L. V. Kale, "Run-time Support for Controlling Communication-Induced Memory Fluctuation", 2007, section 3.5.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"
#include "sluice/fetch.hpp"
#include "sluice/tasks.hpp"
#include "sluice/units.hpp"

namespace sluice {

/// A part for one rank: bytes that lie in memory, or that are produced when the rank has memory for them.
struct OutgoingPart {
    int rank = 0;                     ///< the receiver; may be this rank
    std::span<std::byte const> data;  ///< the bytes, which the caller owns and which stay unchanged during the call;
                                      ///< unused if there is a `produce`
    Bytes bytes{};                    ///< the size, if there is a `produce`
    std::function<void(std::span<std::byte> out)> produce;  ///< writes all bytes of `out`, once. It may throw.
};

/// Gets a part that has come from a rank: `part[0]` are its bytes. They are freed, and their tokens given to other
/// parts, when `part` dies: at the end of the callback, unless it moves `part` elsewhere. It may be moved to a task or
/// a list, and other parts wait meanwhile if the budget has no room for more.
using PartTaker = std::function<void(int from, FetchResult part)>;

/// The same as a coroutine, which may wait (for a request, for time, for data of another store) while other parts come.
/// It holds the tokens of its part until the part dies, at the latest when it ends.
using PartTask = std::function<Task(int from, FetchResult part)>;

/// What one exchange did on this rank.
struct ExchangeReport {
    std::uint64_t parts_sent = 0;         ///< parts that left for other ranks
    std::uint64_t parts_received = 0;     ///< parts that came from other ranks
    Bytes sent;                           ///< bytes of the parts that left for other ranks
    Bytes received;                       ///< bytes of the parts that came from other ranks
    Bytes kept;                           ///< bytes of the parts that this rank sent to itself
    Bytes peak;                           ///< most bytes of parts in buffers at once: that had come, or were produced
    std::uint64_t most_on_their_way = 0;  ///< most parts that this rank waited for at once
    std::uint64_t beyond = 0;             ///< parts that came beyond the budget, because nothing else would have moved
};

/// Sends the parts of this rank and gives those that come to `take`, in any order. Collective over the context; returns
/// when every rank has all of its parts. Several parts may go to one rank; empty ones are left out. Memory: what the
/// budget has tokens for, apart for parts that come (Settings::fetch_memory) and parts that are produced
/// (Settings::serve_memory), or twice Settings::tokens × the largest part; one part of each kind is always under way;
/// and about 400 bytes for each part of this rank, sent or received.
/// @param context the ranks that exchange; one thread at once may use it
/// @param parts   what this rank sends; the list and its functions must live until the call returns
/// @param take    is called for each part that has come, on the calling thread
/// @return what the call did on this rank
/// @throws Error the same on every rank: before any part has moved invalid_argument for a part without data and
///         function, memory of a device, or a rank out of range, and out_of_memory; after all other parts have been
///         taken, if a `produce` threw, for the part of the lowest rank. What `take` throws is thrown on its rank
///         alone, when all ranks have their parts; later parts of that rank are dropped.
SLUICE_API ExchangeReport exchange(Context& context, std::span<OutgoingPart const> parts, PartTaker const& take);

/// The same with a coroutine for each part that has come. Returns when every rank has all of its parts, and the
/// coroutines of this rank have ended. Memory: in addition a frame for each part of this rank that has not ended.
/// @param context the ranks that exchange; one thread at once may use it
/// @param parts   what this rank sends; the list and its functions must live until the call returns
/// @param take    makes the coroutine for each part that has come; it runs on the calling thread
/// @return what the call did on this rank
/// @throws Error as the form with a callback; what a coroutine throws is what a callback throws
SLUICE_API ExchangeReport exchange_in_tasks(Context& context, std::span<OutgoingPart const> parts,
                                            PartTask const& take);

/// A streamed exchange that is made once and done many times. It keeps what each call of exchange() makes anew: a
/// communicator, buffers, the door to the memory of other ranks of the node, and the lists of parts that come.
///
/// A call cannot get stuck: a rank that is inside it always serves the others. Each part takes its tokens alone and
/// waits for no other, its owner answers by the part or by a refusal, and if the program keeps all that came, the next
/// part comes beyond the tokens. A rank returns when all ranks have their parts, and nothing of a call is left for the
/// next one; parts are named by the number of the call, so a rank that is ahead waits for the others and disturbs none.
///
/// Collective over the context, as are all its members. It may outlive the Context object, but not MPI_Finalize.
/// Threads: one at once may use it, as its context. Memory: what exchange() takes during a call; between calls, buffers
/// that the budget has room for, and 24 to 64 bytes for each part that it knows, for up to eight lists of parts.
class SLUICE_API ExchangePlan {
  public:
    /// For parts that may change from call to call. Each call begins with one step in which the ranks compare their
    /// parts with those of earlier ones; parts are announced only if their receivers or sizes are new.
    /// @param context the ranks that exchange; the plan keeps what it needs of it
    /// @throws Error the same on every rank: mpi, out_of_memory
    explicit ExchangePlan(Context& context);
    /// For parts whose receivers and sizes stay the same. They are announced here, and calls have no first step.
    /// @param context the ranks that exchange; the plan keeps what it needs of it
    /// @param parts   what this rank will send in each call; data and functions may be left out and may change
    /// @throws Error the same on every rank: invalid_argument for a rank out of range, mpi, out_of_memory
    ExchangePlan(Context& context, std::span<OutgoingPart const> parts);
    /// Waits for all ranks, unless an exception is being handled.
    ~ExchangePlan();
    ExchangePlan(ExchangePlan&&) noexcept;
    ExchangePlan& operator=(ExchangePlan&&) noexcept;

    /// Exchanges, as exchange().
    /// @param parts as for exchange()
    /// @param take  as for exchange()
    /// @return what the call did on this rank
    /// @throws Error as exchange(); the plan can be used again. If parts stay the same, wrong arguments of a rank,
    ///         other receivers or sizes among them, are the same error on every rank when all have the other parts. On
    ///         the calling rank alone: invalid_argument inside a function that takes or produces a part of this plan,
    ///         and for a plan that was moved from.
    ExchangeReport apply(std::span<OutgoingPart const> parts, PartTaker const& take);
    /// The same with a coroutine for each part that has come, as exchange_in_tasks().
    /// @param parts as for exchange()
    /// @param take  as for exchange_in_tasks()
    /// @return what the call did on this rank
    /// @throws Error as apply()
    ExchangeReport apply_in_tasks(std::span<OutgoingPart const> parts, PartTask const& take);

    struct [[gnu::visibility("hidden")]] State;

  private:
    friend struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
