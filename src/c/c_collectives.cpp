// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/collectives.h.
#include "sluice/c/collectives.h"

#include <cstddef>
#include <span>
#include <string>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "sluice/collectives.hpp"

using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::fill_after;

namespace {

/// An array with an element for each rank of the context.
template <typename T>
std::span<T const> one_for_each_rank(sluice::Context const& context, T const* first, char const* what) {
    return {&existing(first, what), static_cast<std::size_t>(context.size())};
}

}  // namespace

int sluice_alltoall_in_place(sluice_context* context, void* buffer, int64_t count, MPI_Datatype type,
                             sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::check_report(report);
        fill_after(report, alltoall_in_place(over, buffer, count, type));
    });
}

int sluice_alltoallv_in_place(sluice_context* context, void* buffer, int64_t const* counts,
                              int64_t const* displacements, MPI_Datatype type, sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::check_report(report);
        fill_after(report, alltoallv_in_place(over, buffer, one_for_each_rank(over, counts, "counts"),
                                              one_for_each_rank(over, displacements, "displacements"), type));
    });
}

int sluice_alltoallw_in_place(sluice_context* context, void* buffer, int64_t const* counts,
                              int64_t const* displacements, MPI_Datatype const* types, sluice_report* report) {
    return c_boundary([&] {
        sluice::Context& over = existing(context, "context").context;
        sluice::c::check_report(report);
        fill_after(report, alltoallw_in_place(over, buffer, one_for_each_rank(over, counts, "counts"),
                                              one_for_each_rank(over, displacements, "displacements"),
                                              one_for_each_rank(over, types, "types")));
    });
}
