// SPDX-License-Identifier: BSD-3-Clause
/// The calls that take requests, on requests of which some are owned: MPI is called with what stands for them, by
/// `next`, and the program is told what it would be told of one request. Each waits exactly as MPI's own call does.
///
///     program's handles ── substitute ──> next: MPI ── complete() of those that are over ──> handles and statuses
///
/// Without memory for the substitutes of an array they change nothing and say so as MPI does. A function of the program
/// may leave MPI's call by an exception, which passes here: no call of MPI is inside a try.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <new>

#include "plugin/services/requests/answer_places.hpp"
#include "plugin/services/substitution.hpp"

namespace sluice::plugin::translation {

template <class Next>
int wait(Owners const& owners, Next next, MPI_Request* request, MPI_Status* status) {
    auto const owned = request != nullptr ? owners.find(*request) : nullptr;
    if (!owned || lacks_a_place(status)) return next(request, status);
    MPI_Request inactive = owned->part(0).request;
    if (!owned->active()) return next(&inactive, status);
    Hidden const hidden(owners, owned);
    for (std::size_t i = 0; i < owned->parts(); ++i) {
        if (owned->part(i).done) continue;
        AskedPart part(owners, *owned, i, request, status);
        part.settle(next(part.request(), part.status()));
    }
    return owners.finish(*owned, request, status);
}

template <class Next>
int test(Owners const& owners, Next next, MPI_Request* request, int* flag, MPI_Status* status) {
    auto const owned = request != nullptr ? owners.find(*request) : nullptr;
    if (!owned || lacks_a_place(status, flag)) return next(request, flag, status);
    MPI_Request inactive = owned->part(0).request;
    if (!owned->active()) return next(&inactive, flag, status);
    Hidden const hidden(owners, owned);
    *flag = 0;
    for (std::size_t i = 0; i < owned->parts(); ++i) {
        if (owned->part(i).done) continue;
        AskedPart part(owners, *owned, i, request, status);
        int is_over = 0;
        int const code = next(part.request(), &is_over, part.status());
        if (code == MPI_SUCCESS && is_over == 0) return MPI_SUCCESS;
        part.settle(code);
    }
    *flag = 1;
    return owners.finish(*owned, request, status);
}

/// Completes nothing, so the parts keep what they are.
template <class Next>
int get_status(Owners const& owners, Next next, MPI_Request request, int* flag, MPI_Status* status) {
    auto const owned = owners.find(request);
    if (!owned || lacks_a_place(status, flag)) return next(request, flag, status);
    if (!owned->active()) return next(owned->part(0).request, flag, status);
    std::size_t const number = owned->parts();
    std::unique_ptr<OwnedRequest::Part[]> const parts(new (std::nothrow) OwnedRequest::Part[number]);
    if (!parts) return owners.no_memory();
    *flag = 0;
    for (std::size_t i = 0; i < number; ++i) {
        parts[i] = owned->part(i);
        if (parts[i].done) continue;
        int is_over = 0;
        int const code = next(parts[i].request, &is_over, &parts[i].status);
        if (code != MPI_SUCCESS || is_over == 0) return code;
    }
    *flag = 1;
    if (owned->is_collective()) return MPI_SUCCESS;  // MPICH, whose call it is, leaves the status alone
    MPI_Status result{};
    owned->describe({parts.get(), number}, result);
    write_status(status, result);
    return MPI_SUCCESS;
}

template <class Next>
int waitall(Owners const& owners, Next next, int count, MPI_Request* requests, MPI_Status* statuses) {
    if (lacks_a_place_of(count, requests, statuses)) return next(count, requests, statuses);
    Substitution substitution(owners, count, requests, statuses);
    if (!substitution.has_memory()) return owners.no_memory();
    if (!substitution.any()) return next(count, requests, statuses);
    int const code = next(substitution.count(), substitution.requests(), substitution.statuses());
    return substitution.completed_all(code);
}

template <class Next>
int testall(Owners const& owners, Next next, int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (lacks_a_place_of(count, requests, statuses, flag)) return next(count, requests, flag, statuses);
    Substitution substitution(owners, count, requests, statuses);
    if (!substitution.has_memory()) return owners.no_memory();
    if (!substitution.any()) return next(count, requests, flag, statuses);
    int const code = next(substitution.count(), substitution.requests(), flag, substitution.statuses());
    if (code == MPI_SUCCESS && *flag == 0) return MPI_SUCCESS;
    return substitution.completed_all(code);
}

template <class Next>
int waitany(Owners const& owners, Next next, int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (lacks_a_place_of(count, requests, status, index)) return next(count, requests, index, status);
    Substitution substitution(owners, count, requests, MPI_STATUSES_IGNORE);
    if (!substitution.has_memory()) return owners.no_memory();
    if (!substitution.any()) return next(count, requests, index, status);
    for (;;) {
        int place = MPI_UNDEFINED;
        MPI_Status found = status != MPI_STATUS_IGNORE ? *status : MPI_Status();
        int result = next(substitution.count(), substitution.requests(), &place, &found);
        if (substitution.completed_one(result, place, found, index, status, result)) return result;
    }
}

template <class Next>
int testany(Owners const& owners, Next next, int count, MPI_Request* requests, int* index, int* flag,
            MPI_Status* status) {
    if (lacks_a_place_of(count, requests, status, index, flag)) return next(count, requests, index, flag, status);
    Substitution substitution(owners, count, requests, MPI_STATUSES_IGNORE);
    if (!substitution.has_memory()) return owners.no_memory();
    if (!substitution.any()) return next(count, requests, index, flag, status);
    for (;;) {
        int place = MPI_UNDEFINED;
        MPI_Status found = status != MPI_STATUS_IGNORE ? *status : MPI_Status();
        int result = next(substitution.count(), substitution.requests(), &place, flag, &found);
        if (result == MPI_SUCCESS && *flag == 0) {
            *index = MPI_UNDEFINED;
            return MPI_SUCCESS;
        }
        if (substitution.completed_one(result, place, found, index, status, result)) return result;
    }
}

/// Waitsome and Testsome go on while only parts of the program's requests complete.
template <class Next>
int some(Owners const& owners, Next next, int count, MPI_Request* requests, int* number, int* indices,
         MPI_Status* statuses) {
    if (lacks_a_place_of(count, requests, statuses, number, indices))
        return next(count, requests, number, indices, statuses);
    Substitution substitution(owners, count, requests, statuses);
    if (!substitution.has_memory()) return owners.no_memory();
    if (!substitution.any()) return next(count, requests, number, indices, statuses);
    for (;;) {
        int found = 0;
        substitution.expect_some();
        int const code =
            next(substitution.count(), substitution.requests(), &found, substitution.places(), substitution.statuses());
        if (found == MPI_UNDEFINED || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) {
            *number = found;
            return code;
        }
        if (substitution.completed_some(code, found) || found == 0) return substitution.tell_some(number, indices);
    }
}

template <class Next>
int free_request(Owners const& owners, Next next, MPI_Request* request) {
    auto const owned = request != nullptr ? owners.find(*request) : nullptr;
    if (!owned) return next(request);
    if (owned->active() && owned->is_collective()) {
        int const code = next(request);
        if (code == MPI_SUCCESS) owners.table.leave_to_mpi(owned);
        return code;
    }
    *request = null_request();
    if (owned->active()) {
        owners.table.release(owned);
        return MPI_SUCCESS;
    }
    owners.table.remove(*owned);
    int first = MPI_SUCCESS;
    for (std::size_t i = 0; i < owned->parts(); ++i) {
        MPI_Request part = owned->part(i).request;
        int const code = next(&part);
        if (first == MPI_SUCCESS) first = code;
    }
    return first;
}

template <class Next>
int cancel(Owners const& owners, Next next, MPI_Request* request) {
    auto const owned = request != nullptr ? owners.find(*request) : nullptr;
    if (!owned) return next(request);
    int first = MPI_SUCCESS;
    for (std::size_t i = 0; i < owned->parts(); ++i) {
        OwnedRequest::Part part = owned->part(i);
        if (part.done) continue;
        int const code = next(&part.request);
        if (first == MPI_SUCCESS) first = code;
    }
    return first;
}

template <class Next>
int startall(Owners const& owners, Next next, int count, MPI_Request* requests) {
    StartedParts parts(owners, count, requests);
    if (!parts.has_memory()) return owners.no_memory();
    if (!parts.any()) return next(count, requests);
    return parts.started(next(parts.count(), parts.requests()));
}

template <class Next>
int start(Owners const& owners, Next next, MPI_Request* request) {
    StartedParts parts(owners, 1, request);
    if (!parts.has_memory()) return owners.no_memory();
    if (!parts.any()) return next(request);
    int code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS && i < parts.count(); ++i)
        code = next(&parts.requests()[i]);
    return parts.started(code);
}

/// `call` takes the number of a partition and the request that it is a part of.
template <class Call>
int with_partition(OwnedRequest const& owned, int partition, Call const& call) {
    OwnedRequest::Partition const place = owned.find_partition(partition);
    return call(place.number, owned.part(place.part).request);
}

template <class Next>
int ready(Owners const& owners, Next next, int partition, MPI_Request request) {
    auto const owned = owners.find(request);
    return owned ? with_partition(*owned, partition, next) : next(partition, request);
}

template <class Next>
int ready_range(Owners const& owners, Next next, int low, int high, MPI_Request request) {
    auto const owned = owners.find(request);
    if (!owned) return next(low, high, request);
    if (low > high) return next(low, high, owned->part(0).request);
    int code = MPI_SUCCESS;
    for (int i = low; code == MPI_SUCCESS && i <= high; ++i)
        code = with_partition(*owned, i, [&](int number, MPI_Request part) { return next(number, number, part); });
    return code;
}

template <class Next, class List>
int ready_list(Owners const& owners, Next next, int length, List list, MPI_Request request) {
    auto const owned = owners.find(request);
    if (!owned) return next(length, list, request);
    if (length <= 0 || list == nullptr) return next(length, list, owned->part(0).request);
    int code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS && i < length; ++i)
        code = with_partition(*owned, list[i], [&](int number, MPI_Request part) { return next(1, &number, part); });
    return code;
}

template <class Next>
int arrived(Owners const& owners, Next next, MPI_Request request, int partition, int* flag) {
    auto const owned = owners.find(request);
    if (!owned) return next(request, partition, flag);
    return with_partition(*owned, partition, [&](int number, MPI_Request part) { return next(part, number, flag); });
}

}  // namespace sluice::plugin::translation
