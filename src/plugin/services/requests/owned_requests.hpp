// SPDX-License-Identifier: BSD-3-Clause
/// Requests that a service made or keeps something for: which requests of MPI complete them, and what is to be done
/// then. Without calls of MPI.
///
///     handle of the program ──> OwnedRequest ──> part, part, …: requests of MPI
///                               complete(), by its service
///
/// The handle is the only part itself if the service only keeps memory until MPI's own request is complete. Otherwise
/// it is one that MPI knows (ticket.hpp) and that MPI's own completion calls never get to see (translation.hpp).
///
/// MPI may give the handle of a complete request to another thread before the call that completed it returns. So MPI's
/// own request is hidden while a call may complete it: the other thread does not find it under its handle.
///
/// The table has no limit, and adding to it needs no memory, so it cannot fail. A request that was freed while it was
/// active has no handle any more; it is kept until its parts are complete.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace sluice::plugin {

/// MPI_REQUEST_NULL, for templates that the wrappers use: the wrappers are not linked to MPI.
MPI_Request null_request() noexcept;

/// Two calls of MPI, for requests that the program has freed.
struct RequestCalls {
    int (*test)(MPI_Request*, int*, MPI_Status*);
    int (*free)(MPI_Request*);
};

class OwnedRequest {
  public:
    /// Copies of a part are valid until the next call that completes it.
    struct Part {
        MPI_Request request;
        MPI_Status status;
        bool done;
    };

    /// A persistent one is inactive until it is started.
    OwnedRequest(std::size_t parts, bool persistent);
    OwnedRequest(OwnedRequest const&) = delete;
    OwnedRequest& operator=(OwnedRequest const&) = delete;
    /// When the program has no handle of it any more, and MPI has completed all parts.
    virtual ~OwnedRequest() = default;

    /// What the program's status says: that of the last part unless a service knows better. Also while all parts can be
    /// completed but are not yet.
    virtual void describe(std::span<Part const> parts, MPI_Status& status) const noexcept;
    /// All parts are complete, each with the error code in its status. Gives the code of the whole: the first error of
    /// a part unless a service knows better.
    virtual int complete(std::span<Part const> parts) noexcept;
    /// Which part a partition belongs to, and its number there.
    struct Partition {
        std::size_t part;
        int number;
    };
    virtual Partition find_partition(int partition) const noexcept { return {0, partition}; }
    /// Of a nonblocking collective call: MPI refuses to free it while it is active.
    virtual bool is_collective() const noexcept { return false; }
    /// A call from inside another one asks for it, such as an error handler of the program that waits: no link acts
    /// there, so what only links would complete is to be complete when this returns.
    virtual void asked_inside() noexcept {}

    MPI_Request handle() const noexcept { return handle_; }
    bool persistent() const noexcept { return persistent_; }
    bool active() const noexcept { return active_.load(std::memory_order_acquire); }
    /// The program's handle is MPI's request: now, for a persistent one may have another part each time.
    bool is_mpi_request() const noexcept { return is_mpi_request_; }
    std::size_t parts() const noexcept { return parts_.size(); }
    Part part(std::size_t i) const;
    /// Before it is added, and where MPI has changed a handle.
    void set_part(std::size_t i, MPI_Request request);
    void start();
    /// Part `i` is complete. True when it was the last; then `finish` must follow.
    bool settle(std::size_t i, MPI_Request now, MPI_Status const& status, int code);
    /// Fills the program's status; gives the code of the whole.
    int finish(MPI_Status& status) noexcept;

  private:
    friend class OwnedRequests;
    void note_whose_handle() noexcept;
    MPI_Request handle_;
    std::shared_ptr<OwnedRequest> next_;  // in the table
    mutable std::mutex changing_;         // the program may cancel a request while another thread waits for it
    std::vector<Part> parts_;
    std::size_t left_ = 0;  // parts that are not done
    bool const persistent_;
    bool is_mpi_request_ = false;
    std::atomic<bool> active_;
};

class OwnedRequests {
  public:
    OwnedRequests();
    OwnedRequests(OwnedRequests const&) = delete;
    OwnedRequests& operator=(OwnedRequests const&) = delete;
    ~OwnedRequests();

    bool empty() const noexcept { return kept_.load(std::memory_order_acquire) == 0; }
    /// From now on `handle` is the program's name of `request`, whose parts are set. A handle that comes again was
    /// completed in a call that was not translated, or is about to be removed by the thread that completed it.
    void add(MPI_Request handle, std::shared_ptr<OwnedRequest> request) noexcept;
    /// Null if it is not owned.
    std::shared_ptr<OwnedRequest> find(MPI_Request handle) const;
    /// The same for `n` handles in one look-up: found[i] is what handles[i] stands for. True if any is owned.
    bool find_all(MPI_Request const* handles, std::size_t n, std::shared_ptr<OwnedRequest>* found) const;
    /// The program has no handle of it any more. Another that has got the same handle meanwhile stays.
    void remove(OwnedRequest const& request) noexcept;
    /// MPI's own request, which a call is about to complete: not found until it is shown again. Neither needs memory.
    void hide(OwnedRequest const& request) noexcept { remove(request); }
    /// All of `requests` that `which` accepts, in one look-up.
    template <class Which>
    void hide_all(std::span<std::shared_ptr<OwnedRequest> const> requests, Which const& which) noexcept {
        std::lock_guard const lock(changing_);
        // The caller holds each of them, so none is destroyed under the lock.
        for (auto const& request : requests)
            if (which(request.get()) && take(request->handle_, request.get()))
                kept_.fetch_sub(1, std::memory_order_release);
    }
    void show(std::shared_ptr<OwnedRequest> request) noexcept {
        MPI_Request const handle = request->handle();
        add(handle, std::move(request));
    }
    /// The program freed an active one.
    void release(std::shared_ptr<OwnedRequest> request) noexcept;
    /// MPI has taken the handle of an active one, and does not say when it is complete: what it uses is not given back.
    void leave_to_mpi(std::shared_ptr<OwnedRequest> request) noexcept;
    /// Completes those that were freed and whose parts are complete.
    void poll(RequestCalls const& calls);
    /// MPI is about to end: what was freed and is not complete is left to it. The memory that it uses is not given
    /// back.
    void leave_freed_to_mpi(RequestCalls const& calls);

  private:
    class Polled;
    using Link = std::shared_ptr<OwnedRequest>;
    Link const* find_link(MPI_Request handle) const noexcept;
    Link take(MPI_Request handle, OwnedRequest const* only) noexcept;
    void put(Link request) noexcept;
    void grow() noexcept;
    void keep_freed(Link request) noexcept;
    void keep_left(Link request) noexcept;
    Link take_freed() noexcept;

    static constexpr unsigned k_first_bits = 6;
    mutable std::mutex changing_;
    std::vector<Link> buckets_;
    unsigned bits_ = k_first_bits;
    std::size_t in_table_ = 0;
    Link freed_;        // a list
    Link left_to_mpi_;  // a list
    std::atomic<std::size_t> kept_{0};
};

}  // namespace sluice::plugin
