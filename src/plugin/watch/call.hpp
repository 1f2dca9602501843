// SPDX-License-Identifier: BSD-3-Clause
/// One call of the program into MPI, from its wrapper's first to its last line.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>

#include "functions.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/tables/memory_watch.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/tables/open/flights.hpp"
#include "plugin/watch/arrival.hpp"
#include "plugin/watch/touched_memory.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Watch;

class Call {
  public:
    /// A call that `job` watches with `watch`. `outer`: the entry that it is inside, whose time has its time; what it
    /// makes, starts and frees is known, and services serve it, but its bytes are not counted.
    Call(Job& job, Watch& watch, Function function, void const* caller, Inside* outer = nullptr) noexcept;
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;
    /// Of a call that did not end: an error handler of the program has thrown an exception.
    ~Call();

    Job& job() const noexcept { return *job_; }
    Watch& watch() const noexcept { return *watch_; }
    Function function() const noexcept { return function_; }
    /// A function of the program that MPI runs has made it.
    bool is_nested() const noexcept { return is_nested_; }
    /// Index into the table of call sites.
    std::uint32_t site() const noexcept { return site_; }
    void out(std::uint64_t bytes) noexcept { out_ = bytes; }
    void in(std::uint64_t bytes) noexcept { in_ = bytes; }
    /// The bytes that leave and those that come are in one buffer (MPI_IN_PLACE).
    void same(bool one_buffer) noexcept { one_buffer_ = one_buffer; }
    // For the matrix, each told after MPI has accepted the call: the ranks that they go to, as the call is defined, not
    // as the MPI routes it. A rank's own part goes nowhere. The time depends on the arguments alone, not on the number
    // of ranks.
    void to(int destination, MPI_Comm comm) noexcept;
    /// A window's rank: bytes that leave go to it, bytes that come are its own.
    void target(int rank, MPI_Win window) noexcept;
    /// What leaves goes to the root; or what comes, comes from it. The other side counts nothing.
    void to_root(int root, MPI_Comm comm) noexcept;
    void from_root(int root, MPI_Comm comm) noexcept;
    /// The bytes to each other member.
    void to_each(std::uint64_t bytes, MPI_Comm comm) noexcept;
    /// To member i counts[i] of one type, or of types[i].
    template <class Count, class Types>
    void to_members(MessageBytes& sizes, Count const* counts, Types types, MPI_Comm comm) noexcept;
    /// The call names no pairs of ranks.
    void to_no_named_rank() noexcept { unplaced_ = out_; }
    /// Something comes in: where to is to be told.
    bool receives() const noexcept { return in_ > 0; }
    void into(void* buffer, std::uint64_t span) noexcept;
    /// The call may return before its bytes have come, and has no request: pages are found when they come.
    void comes_later() noexcept { comes_later_ = true; }
    /// Memory of the program that MPI writes to in other calls, until the owner gives it back.
    void lends(void const* from, MPI_Aint bytes, std::uint64_t owner) noexcept;
    /// Memory that MPI has allocated for the program with a window: `pointer` is where MPI wrote its address. It is the
    /// application's, no matter which rank touches it first, until the window is freed.
    void owns(void const* pointer, MPI_Aint bytes, std::uint64_t window) noexcept;
    /// The owner gives all of them back, or the one that begins at `from`.
    void gives_back(std::uint64_t owner) noexcept;
    void gives_back(std::uint64_t owner, void const* from) noexcept;
    /// Before the window is freed.
    void releases(std::uint64_t window) noexcept;
    /// Blocks that lie far apart are not looked at: the kernel would be asked about all pages between them.
    void into(void* buffer, Room room) noexcept;
    /// The buffer that the bytes come into, else the one that they leave from.
    void buffer(void const* address) noexcept { address_ = address; }
    /// The message that a request sends.
    void leaves(MessageBytes& sizes, void const* buffer, MPI_Count count, MPI_Datatype type) noexcept {
        if (g_plugin.dense_types.size_of(type) > 0) [[likely]]
            leaves_ = {reinterpret_cast<std::uintptr_t>(buffer), out_, out_};
        else
            leaves_with_gaps(sizes, buffer, count, type);
    }
    /// A blocking call with so few bytes is over before any sample is taken, so its buffers are not told.
    bool is_long() const noexcept { return kept_busy() >= k_seen_in_flight; }
    /// The buffers that the call, or its request, keeps busy.
    void busy(TouchedBy const& touched) noexcept;
    /// The call, or the request that it starts, waits for `partner`, which sends to it or receives from it.
    void awaits(int partner, MPI_Comm comm) noexcept;
    void awaits_one_of(MPI_Request const* requests, int count) noexcept;
    /// Time in this call is time that waits for others, apart from the transfer of its bytes. Told after its bytes.
    void waits() noexcept;
    /// The call asked whether something has come: if it has not, the program waits.
    void asked(bool came) noexcept { waits_ = !came; }
    /// Bytes of requests that the call completed.
    void brought(std::uint64_t bytes) noexcept { brought_ = bytes; }
    // After MPI has accepted the call.
    void passes_on() noexcept;

    // For links, and only before the call ends.
    /// A service does the work of this call instead of MPI; other ranks got or sent `exchanged` bytes for it.
    void serves(std::uint64_t exchanged) noexcept;
    /// The call returns before its bytes have come. Its time is no waiting, its bytes stay in flight, and its buffer is
    /// looked at again when Watch::arrived() is told.
    Arrival arrives_later() noexcept;
    /// Pages of the program's or Sluice's buffers that became resident in this call: they are not MPI's.
    void own_pages(std::uint64_t bytes) noexcept { own_pages_ += bytes; }

    void starts(MPI_Request request) noexcept;
    void persistent(MPI_Request request) noexcept;
    /// The inactive requests among them begin.
    void begins(MPI_Request const* requests, int count) noexcept;
    void makes(MPI_Comm comm) noexcept {
        made_ = comm;
        makes_ = true;
    }
    /// One that is not known, because its members do not agree on an id. Its handle may have been another one's.
    void makes_unknown(MPI_Comm comm) noexcept;
    void makes_window(MPI_Win window, MPI_Comm comm) noexcept;
    void frees_window(std::uint64_t window) noexcept;
    /// An object that the program has to free; nothing for a null handle.
    void creates(record::Object kind, std::uint64_t handle) noexcept;
    /// One that the program has freed.
    void destroys(record::Object kind, std::uint64_t handle) noexcept;

    /// Writes down what the call took; gives `code` back.
    int end(int code);

  private:
    /// What is open on account of a call, for a call that never ends: its handler may leave by longjmp.
    struct Account {
        Watch* watch = nullptr;  // null: none is open
        std::uint32_t site = 0;
        std::uint32_t number = 0;  // among open calls
        bool reading = false;
        bool receiving = false;  // samples know of its receive buffer
        bool flying = false;
        FlyingRange leaves, comes;
        std::uint64_t unknown = 0;
        std::uint32_t leaves_at = Flights::k_alone, comes_at = Flights::k_alone;
    };
    static constinit thread_local Account t_account;
    static void close(Account& account, std::uint64_t now_us) noexcept;
    static void land(Account& account) noexcept;

    template <bool several>
    void write_down(std::uint64_t ns, std::uint64_t now_us) const noexcept;
    void receives_into(void* buffer, std::uint64_t span) noexcept;
    void leaves_with_gaps(MessageBytes& sizes, void const* buffer, MPI_Count count, MPI_Datatype type) noexcept;
    void opens(MPI_Request request, bool persistent) noexcept;
    void note_pages() noexcept;
    void note_objects(MemoryWatch::Change const& change, std::uint64_t elapsed) const noexcept;
    /// Bytes whose buffers are not known.
    std::uint64_t unknown() const noexcept { return leaves_.bytes + comes_.bytes > 0 ? 0 : kept_busy(); }
    /// Bytes that come in, if their buffer is known to be busy or no buffer is.
    std::uint64_t coming() const noexcept { return leaves_.bytes + comes_.bytes > 0 ? comes_.bytes : in_; }
    /// Those of them whose pages are not there, or may not be.
    std::uint64_t absent() const noexcept { return not_looked_ ? coming() : absent_; }
    /// Its buffer is busy only where something has come.
    bool is_posted() const noexcept;
    static constexpr std::uint64_t k_seen_in_flight = 65536;
    std::uint64_t kept_busy() const noexcept { return one_buffer_ ? std::max(out_, in_) : out_ + in_; }

    Inside inside_;
    Job* job_;
    Watch* watch_;
    Function function_;
    bool const is_nested_;
    std::uint64_t start_;
    std::uint32_t site_;
    bool reading_;
    bool waits_ = false;
    bool one_buffer_ = false;
    bool comes_later_ = false;
    bool stays_open_ = false;   // a request goes on with its bytes
    bool moves_later_ = false;  // when a persistent request begins
    record::Object creates_ = record::Object::none;
    record::Object destroys_ = record::Object::none;
    MemoryWatch::Freed frees_;  // what it destroys
    bool makes_ = false;
    MPI_Comm made_;
    int destination_ = -1;     // in MPI_COMM_WORLD
    int partner_ = -1;         // the rank that it waits for, in MPI_COMM_WORLD
    bool names_rank_ = false;  // the record tells the rank that the call waits for
    std::uint64_t out_ = 0;
    std::uint64_t in_ = 0;
    FlyingRange leaves_, comes_;  // the buffers, if they are known
    std::uint64_t unplaced_ = 0;  // bytes that the matrix lacks
    std::uint64_t brought_ = 0;
    void const* address_ = nullptr;
    void const* buffer_ = nullptr;
    std::uint64_t span_ = 0;
    std::uint64_t own_pages_ = 0;
    std::uint64_t new_ = 0;     // absent_ at the begin
    std::uint64_t absent_ = 0;  // bytes of the receive buffer that were not in memory
    bool not_looked_ = false;   // at the receive buffer: then nothing of it counts as in flight
};

}  // namespace sluice::plugin
