// SPDX-License-Identifier: BSD-3-Clause
/// The uses of large buffers by the program's calls: told to the helper when they begin and when they end.
///
///     before ── begin: watched? ── cache: in use ── event ──> … MPI … ──> link ── end: cache ── event
///                                                                           └── request: ends with the call that
///                                                                           completes it
///     MPI_Send_init … ── Kept: request, buffer      MPI_Start ── a use of what is kept, as above
///
/// The cache of regions says what UCX's own cache holds. A use that is thought to have ended too early, or is lost,
/// costs time and no bytes: UCX gives back nothing that one of its messages uses.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "memory/registration/cache.hpp"
#include "memory/registration/event_queue.hpp"
#include "plugin/services/registration/locked_room.hpp"
#include "plugin/services/registration/mapping_watch.hpp"
#include "plugin/watch/touched_memory.hpp"

namespace sluice::plugin {

class Call;

/// One thread of the program at a time calls these functions.
class Uses {
  public:
    /// Counters of the rank's record.
    struct Counts {
        std::uint64_t& found;       ///< the buffer was registered before the call
        std::uint64_t& registered;  ///< the MPI registers it in the call
        std::uint64_t& left_alone;  ///< memory that cannot be watched, or a buffer larger than the limit
        std::uint64_t& no_place;    ///< more requests at once than are remembered
        std::uint64_t& overlapped;  ///< receives that are overlap's
    };
    Uses(memory::registration::Cache& cache, LockedRoom& room, MappingWatch& watch, std::uint64_t least,
         Counts counts) noexcept
        : cache_(cache), room_(room), watch_(watch), least_(least), counts_(counts) {}

    memory::registration::EventQueue& events() noexcept { return events_; }

    /// Receives of so many bytes are served by overlap, which guards their pages: they are left alone. Called before
    /// the first call.
    void leave_receives_from(std::uint64_t bytes) noexcept { overlapped_from_ = bytes; }

    /// Before a call, outside MPI.
    void begin(Call const& call, TouchedBy const& touched) noexcept;
    /// The call is complete, and what it used with it. True if the helper has something to do.
    bool end_call() noexcept;
    /// The call has started a request, which goes on with what the call used.
    void go_on_with(MPI_Request request) noexcept;
    bool has_requests() const noexcept { return requests_ > 0; }

    /// The call has made a persistent request of the buffer that it was given.
    void keep(MPI_Request request) noexcept;
    /// A persistent request starts: its buffer is used until a later call completes it.
    void start(Call const& call, MPI_Request request) noexcept;
    /// The program frees the request, or MPI has refused to start it. True if the helper has something to do.
    bool drop(MPI_Request request, bool is_freed) noexcept;

  private:
    struct Open;

  public:
    /// Looks which of the requests that a call is given are complete after it.
    class Completion {
      public:
        Completion(Uses& uses, MPI_Request const* requests, int count) noexcept;
        bool end();

      private:
        bool is_complete(Open const& open) const;

        Uses& uses_;
        MPI_Request const* requests_;
    };

  private:
    struct Open {
        memory::registration::Use use;
        memory::registration::Event event;
        MPI_Request request = MPI_REQUEST_NULL;  // null: of the call that is under way
        int place = -1;                          // among the requests of a call that may complete it
        bool is_persistent = false;              // its handle stays when it is complete
    };
    /// The buffer of a persistent request; request null: no entry.
    struct Kept {
        MPI_Request request = MPI_REQUEST_NULL;
        memory::registration::Range buffer;
        memory::registration::Kind kind{};
    };
    static constexpr std::size_t k_most = 128;
    static constexpr std::size_t k_most_kept = 256;

    void begin(Call const& call, TouchedRange const& range) noexcept;
    /// Null if the buffer is not served.
    Open* open(Call const& call, memory::registration::Range buffer, memory::registration::Kind kind) noexcept;
    bool leaves_to_overlap(Call const& call, TouchedRange const& range) noexcept;
    bool end(Open& open) noexcept;
    template <class Which>
    bool end_if(Which const& which) noexcept;

    memory::registration::Cache& cache_;
    LockedRoom& room_;
    MappingWatch& watch_;
    std::uint64_t least_;
    Counts counts_;
    memory::registration::EventQueue events_;
    std::array<Open, k_most> open_{};
    std::size_t used_ = 0;
    std::size_t requests_ = 0;
    std::uint64_t overlapped_from_ = std::numeric_limits<std::uint64_t>::max();
    Kept making_;  // of the call that is under way, without its request
    std::array<Kept, k_most_kept> kept_{};
    std::size_t keeps_ = 0;  // entries behind are empty
};

}  // namespace sluice::plugin
