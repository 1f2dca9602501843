// SPDX-License-Identifier: BSD-3-Clause
/// An array of requests as MPI is to see it: the program's handles, with the parts of those that are owned in their
/// place.
///
///     program   | a | owned 1 | null | owned 2 (inactive) |
///     MPI       | a | part | part | null | inactive part |
///
/// After MPI's call it writes handles and statuses back. A request is complete for the program when its last part is.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "plugin/services/requests/owned_requests.hpp"

namespace sluice::plugin {

/// The owned requests, as one call sees them.
struct Owners {
    OwnedRequests& table;
    /// The call came from inside another one. A handle that is MPI's own request was then seen by the outer call, or
    /// belongs to the MPI; only handles that MPI cannot complete are looked at.
    bool nested;
    RequestCalls calls;
    /// For a call without memory: tells the error handler, as MPI does, and gives the code.
    int (*no_memory)() = nullptr;

    std::shared_ptr<OwnedRequest> find(MPI_Request handle) const;
    /// What each of an array's handles stands for; empty if none is owned.
    std::vector<std::shared_ptr<OwnedRequest>> find_all(MPI_Request const* handles, std::size_t n) const;
    void poll() const;
    /// Ends a request all of whose parts are complete, as seen by a call for a single one; gives its code.
    int finish(OwnedRequest& request, MPI_Request* handle, MPI_Status* status) const;
};

/// Hides a request in the table while MPI may complete it, if the program's handle is MPI's own.
class Hidden {
  public:
    Hidden(Owners const& owners, std::shared_ptr<OwnedRequest> request) noexcept;
    Hidden(Hidden const&) = delete;
    Hidden& operator=(Hidden const&) = delete;
    /// Shows it again if it is not complete.
    ~Hidden();

  private:
    OwnedRequests* table_;
    std::shared_ptr<OwnedRequest> request_;  // null: nothing was hidden
};

/// Writes a status as MPI does: MPI_ERROR stays as it is unless a call says that it is set.
void write_status(MPI_Status* to, MPI_Status from) noexcept;

/// A part that a call of MPI is asked for. If a function of the program leaves the call by an exception, and MPI has
/// ended the part before, it is complete.
class AskedPart {
  public:
    /// `handle` and `status`: the program's.
    AskedPart(Owners const& owners, OwnedRequest& owned, std::size_t number, MPI_Request* handle, MPI_Status* status);
    AskedPart(AskedPart const&) = delete;
    AskedPart& operator=(AskedPart const&) = delete;
    ~AskedPart();
    MPI_Request* request() noexcept { return &now_.request; }
    MPI_Status* status() noexcept { return &now_.status; }
    /// The call has completed it.
    void settle(int code);

  private:
    Owners const& owners_;
    OwnedRequest& owned_;
    std::size_t number_;
    MPI_Request* handle_;
    MPI_Status* status_of_program_;
    MPI_Request const before_;
    OwnedRequest::Part now_;
    bool is_settled_ = false;
};

class Substitution {
  public:
    /// For calls that complete requests. `statuses`: the program's, for each handle.
    Substitution(Owners const& owners, int count, MPI_Request* handles, MPI_Status* statuses) noexcept;
    Substitution(Substitution const&) = delete;
    Substitution& operator=(Substitution const&) = delete;
    /// If a function of the program has left MPI's call by an exception, what MPI has ended before is complete.
    ~Substitution();
    bool has_memory() const noexcept { return has_memory_; }
    /// Without any the call goes on with what the program passed.
    bool any() const noexcept { return any_; }
    int count() const noexcept { return static_cast<int>(requests_.size()); }
    /// For a call of MPI, after which one of the functions below is called.
    MPI_Request* requests() noexcept {
        in_mpi_ = true;
        return requests_.data();
    }
    MPI_Status* statuses() noexcept { return statuses_.data(); }
    int* places() noexcept { return places_.data(); }

    /// After Waitall, or Testall that says that all are complete; gives the code for the program.
    int completed_all(int code);
    /// After Waitany or Testany. False if the program has to wait on: only a part of a request was complete.
    bool completed_one(int code, int place, MPI_Status const& found, int* index, MPI_Status* status, int& result);
    /// Ahead of Waitsome or Testsome, whose statuses are those of what they find.
    void expect_some();
    /// After them. False if none of the program's requests is complete.
    bool completed_some(int code, int number);
    /// What they found; gives the code for the program.
    int tell_some(int* number, int* indices);

  private:
    struct Slot {
        int index;  // in the program's array
        std::size_t part;
    };
    struct Completed {
        int index;
        MPI_Status status;
        int error;
        bool writes_error;  // this MPI writes it in each status, also of calls that succeed
    };
    void expand_all(std::size_t count);
    void expand(int index, OwnedRequest const* owned);
    void take_what_ended() noexcept;
    void complete(std::size_t slot, MPI_Status const& status, int error, bool writes_error);
    void write(Completed const& completed, bool in_status, std::size_t at) noexcept;
    bool has_statuses() const noexcept { return statuses_of_program_ != MPI_STATUSES_IGNORE; }
    bool one_failed() const noexcept;

    Owners const* owners_;
    MPI_Request* handles_;
    MPI_Status* statuses_of_program_;
    bool has_memory_ = true;
    bool any_ = false;
    bool in_mpi_ = false;
    bool by_place_ = false;                             // MPI tells statuses in the order of what it found
    std::vector<std::shared_ptr<OwnedRequest>> owned_;  // of each handle; null: not owned
    std::vector<Slot> slots_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    std::vector<int> places_;
    std::vector<Completed> completed_;
};

/// The same for Startall: each owned request by all its parts. One that cannot be started goes by a part that is
/// active, which MPI refuses as it would the whole; Open MPI 4.1.4 would start it again.
class StartedParts {
  public:
    StartedParts(Owners const& owners, int count, MPI_Request* handles) noexcept;
    bool has_memory() const noexcept { return has_memory_; }
    bool any() const noexcept { return any_; }
    int count() const noexcept { return static_cast<int>(requests_.size()); }
    MPI_Request* requests() noexcept { return requests_.data(); }
    int started(int code);

  private:
    void expand_all(Owners const& owners, std::size_t count);

    MPI_Request* handles_;
    bool has_memory_ = true;
    bool any_ = false;
    std::vector<std::shared_ptr<OwnedRequest>> owned_;  // of each handle; null: not owned
    std::vector<bool> starts_;                          // each is owned and goes by all its parts
    std::vector<MPI_Request> requests_;
};

}  // namespace sluice::plugin
