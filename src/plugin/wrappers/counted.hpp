// SPDX-License-Identifier: BSD-3-Clause
/// What the wrappers of functions do that make or free an object of MPI. A free counts wherever it comes: a program may
/// free what it has in a function that MPI calls, such as one that deletes an attribute, also during MPI_Finalize.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <optional>
#include <type_traits>

#include "mpi/handle_key.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/services/job.hpp"
#include "plugin/watch/objects/freeing.hpp"
#include "plugin/watch/objects/making.hpp"

namespace sluice::plugin {

/// The job whose objects are counted.
inline Job* counting_job() noexcept {
    if (Job* const job = g_plugin.watched.load(std::memory_order_acquire)) return job;
    Job* const job = g_plugin.job;
    bool const ends = job != nullptr && job->ended && job->process == getpid() &&
                      look_at(job->watch.record().head.state) == record::State::finalizing;
    return ends ? job : nullptr;
}

/// `next` calls MPI, which overwrites the handle.
template <class Handle, class Next>
int frees(record::Object kind, Handle const* object, Next const& next) {
    Job* const job = counting_job();
    if (job == nullptr || object == nullptr) return next();
    std::uint64_t const handle = mpi::handle_key(*object);
    std::optional<Freeing> communicator;
    if constexpr (std::is_same_v<Handle, MPI_Comm>)
        if (kind == record::Object::communicator) communicator.emplace(job->watch, object);
    int const code = next();
    if (code != MPI_SUCCESS) return code;
    job->watch.freed(kind, handle);
    if (communicator) communicator->done();
    return code;
}

template <class Handle, class Next>
int makes(Function function, void const* caller, record::Object kind, Handle const* object, Next const& next) {
    Job* const job = g_plugin.watched.load(std::memory_order_acquire);
    if (job == nullptr) return next();
    if (is_inside()) {
        int const code = next();
        if (code == MPI_SUCCESS && !is_predefined(kind, mpi::handle_key(*object)))
            job->watch.made_inside(kind, mpi::handle_key(*object));
        return code;
    }
    Making making(job->watch, function, caller);
    int const code = next();
    if (code == MPI_SUCCESS) making.made(kind, mpi::handle_key(*object));
    return making.end(code);
}

/// MPI_Type_get_contents.
template <class Next>
int gives_contents(Function function, void const* caller, MPI_Datatype type, MPI_Datatype const* types,
                   Next const& next) {
    Job* const job = g_plugin.watched.load(std::memory_order_acquire);
    if (job == nullptr) return next();
    if (is_inside()) {
        int const code = next();
        if (code == MPI_SUCCESS) made_contents_inside(job->watch, type, types);
        return code;
    }
    Making making(job->watch, function, caller);
    int const code = next();
    if (code == MPI_SUCCESS) making.made_contents(type, types);
    return making.end(code);
}

}  // namespace sluice::plugin
