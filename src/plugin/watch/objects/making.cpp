// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/objects/making.hpp"

#include <algorithm>
#include <array>

#include "mpi/handle_key.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

namespace {

template <class... Handles>
bool is_any_of(std::uint64_t handle, Handles... handles) noexcept {
    return ((handle == mpi::handle_key(handles)) || ...);
}

/// Types without a name of MPI are the program's to free.
bool is_derived(MPI_Datatype type) noexcept {
    int unused = 0;
    int combiner = MPI_COMBINER_NAMED;
    if (type == MPI_DATATYPE_NULL || MPI_Type_get_envelope(type, &unused, &unused, &unused, &combiner) != MPI_SUCCESS)
        return false;
    std::array const own{MPI_COMBINER_NAMED, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER};
    return std::find(own.begin(), own.end(), combiner) == own.end();
}

template <class Found>
void each_derived(MPI_Datatype type, MPI_Datatype const* types, Found const& found) noexcept {
    int unused = 0;
    int number = 0;
    if (types == nullptr || MPI_Type_get_envelope(type, &unused, &unused, &number, &unused) != MPI_SUCCESS) return;
    for (int i = 0; i < number; ++i)
        if (is_derived(types[i])) found(mpi::handle_key(types[i]));
}

}  // namespace

bool is_predefined(record::Object kind, std::uint64_t handle) noexcept {
    switch (kind) {
        case record::Object::datatype:
            return is_any_of(handle, MPI_DATATYPE_NULL);
        case record::Object::communicator:
            return is_any_of(handle, MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF);
        case record::Object::group:
            return is_any_of(handle, MPI_GROUP_NULL, MPI_GROUP_EMPTY);
        case record::Object::window:
            return is_any_of(handle, MPI_WIN_NULL);
        case record::Object::operation:
            return is_any_of(handle, MPI_OP_NULL);
        case record::Object::info:
            return is_any_of(handle, MPI_INFO_NULL, MPI_INFO_ENV);
        case record::Object::error_handler:
            return is_any_of(handle, MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN
#ifdef MPI_ERRORS_ABORT
                             ,
                             MPI_ERRORS_ABORT
#endif
            );
        case record::Object::file:
            return is_any_of(handle, MPI_FILE_NULL);
        default:
            return false;
    }
}

Making::Making(Watch& watch, Function function, void const* caller) noexcept
    : watch_(watch),
      site_(watch.sites().of(function, caller)),
      start_(ticks()),
      reading_(watch.begins_making(site_, start_)) {}

void Making::made(record::Object kind, std::uint64_t handle) noexcept {
    if (is_predefined(kind, handle)) return;
    kind_ = kind;
    watch_.made(kind, handle, site_);
}

void Making::made_contents(MPI_Datatype type, MPI_Datatype const* types) noexcept {
    each_derived(type, types, [this](std::uint64_t handle) { made(record::Object::datatype, handle); });
}

void made_contents_inside(Watch& watch, MPI_Datatype type, MPI_Datatype const* types) noexcept {
    each_derived(type, types, [&watch](std::uint64_t handle) { watch.made_inside(record::Object::datatype, handle); });
}

int Making::end(int code) noexcept {
    record::RankHead& head = watch_.record().head;
    record::Site& site = watch_.record().sites[site_];
    std::uint64_t const now = ticks();
    std::uint64_t const now_us = watch_.clock().us_since_start(now);
    std::uint64_t const ns = watch_.clock().ns(now - start_);
    MemoryWatch::Change const change = watch_.memory().leave(now, now - start_, reading_, 0, site,
                                                             [&] { return watch_.clock().us_since_start(start_); }, {});
    if (kind_ != record::Object::none) watch_.ends_making(kind_, site_, now - start_, reading_, change.taken);
    if (look_at(site.calls) == 0) put(site.first_us, now_us);
    put(site.last_us, now_us);
    add(site.calls, 1);
    add(site.time_ns, ns);
    raise(site.longest_ns, ns);
    add(head.time_in_mpi_ns, ns);
    return code;
}

}  // namespace sluice::plugin
