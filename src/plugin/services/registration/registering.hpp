// SPDX-License-Identifier: BSD-3-Clause
/// All parts of registration in one rank, from MPI_Init to MPI_Finalize. After Li, Cameron, Nikolopoulos, de Supinski,
/// Schulz: Scalable memory registration for high performance networks using helper threads (CF 2011), whose helper
/// registers in the MPI itself; here it registers in the cache of the UCX below an MPI that is not changed.
///
///     program ── before, links ──> Uses ── events ──> Mapper (thread): Helper ──> Cache ──> UcxRegistrar ──> UCX
///                                   └── MappingWatch (thread) ── changed ──────────^──────────────────────────^
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "memory/registration/cache.hpp"
#include "memory/registration/helper.hpp"
#include "memory/registration/predict/context_predictor.hpp"
#include "plugin/services/registration/locked_room.hpp"
#include "plugin/services/registration/mapper.hpp"
#include "plugin/services/registration/mapping_watch.hpp"
#include "plugin/services/registration/ucx_registrar.hpp"
#include "plugin/services/registration/uses.hpp"

namespace sluice::plugin {

class Registering final : private MappingWatch::Listener, private Mapper::Listener {
  public:
    /// Counters of the rank's record.
    struct Counts {
        Uses::Counts uses;
        std::uint64_t& ahead;
        std::uint64_t& given_back;
        std::uint64_t& forgotten;
        std::uint64_t& beyond_limit;
        std::uint64_t& predictions;  ///< that came true or were given up
        std::uint64_t& within_five_percent;
        std::uint64_t& late;    ///< the buffer was used before
        std::uint64_t& missed;  ///< the buffer was not used
        // Why buffers were registered in the call (memory::registration::Unprepared).
        std::uint64_t& unknown;
        std::uint64_t& given_up;
        std::uint64_t& unannounced;
        std::uint64_t& early;
        std::uint64_t& helper_late;
        std::uint64_t& refused;
    };
    struct Terms {
        std::uint64_t least;  ///< bytes of a buffer that is served
        Bytes limit;          ///< the most bytes that are registered; 0: what RLIMIT_MEMLOCK leaves
    };
    /// The context and the budget for tables outlive this object.
    Registering(ucx::Library library, void* context, Budget const& tables, Terms terms, Counts counts);
    ~Registering();

    /// Registers memory of its own to learn whether and at what cost that works. Returns why it does not, or nothing:
    /// then start() may follow.
    std::string prepare();
    void start() { mapper_->start(); }
    /// Both threads end, and what was registered is given back if UCX can still be called.
    void stop(bool ucx_is_there) noexcept;
    /// A child does not have the memory that is registered while the program forks (MADV_DONTFORK, by the library of
    /// the device): all that no message uses is given back, as UCX does with its own, and nothing is registered until
    /// the program has forked.
    void before_fork() noexcept;
    void after_fork() noexcept;
    /// In a child of fork(), which has neither the threads nor the registrations.
    void abandon() noexcept;

    /// Before a call of the program.
    void leave_receives_from(std::uint64_t bytes) noexcept { uses_.leave_receives_from(bytes); }
    void before(Call const& call, TouchedBy const& touched) noexcept { uses_.begin(call, touched); }
    void before_unwatched() noexcept { watch_.fence(); }

    // For links.
    void call_ended() noexcept {
        if (uses_.end_call()) mapper_->notice();
    }
    void call_started(MPI_Request request) noexcept {
        if (request == MPI_REQUEST_NULL)
            call_ended();
        else
            uses_.go_on_with(request);
    }
    void request_kept(MPI_Request request) noexcept {
        if (request != MPI_REQUEST_NULL) uses_.keep(request);
    }
    template <class Next>
    int starting(Call const& call, MPI_Request const* requests, int count, Next const& next) {
        for (int i = 0; i < count; ++i)
            uses_.start(call, requests[i]);
        int const code = next();
        if (code == MPI_SUCCESS) return code;
        for (int i = 0; i < count; ++i)
            uses_.drop(requests[i], false);
        return code;
    }
    void freed(MPI_Request request) noexcept {
        if (uses_.drop(request, true)) mapper_->notice();
    }
    template <class Next>
    int completing(MPI_Request const* requests, int count, Next const& next) {
        if (!uses_.has_requests()) [[likely]]
            return next();
        Uses::Completion completion(uses_, requests, count);
        int const code = next();
        if (completion.end()) mapper_->notice();
        return code;
    }

  private:
    void changed(memory::registration::Range range) noexcept override;
    void published() noexcept override;
    std::string try_registering();

    ucx::Library library_;
    Terms terms_;
    Budget const& tables_;
    Counts counts_;
    MappingWatch watch_;
    UcxRegistrar registrar_;
    LockedRoom room_;
    std::optional<memory::registration::Cache> cache_;
    Uses uses_;
    std::optional<memory::registration::ContextPredictor> predictor_;
    std::optional<memory::registration::Helper> helper_;
    std::optional<Mapper> mapper_;
};

}  // namespace sluice::plugin
