// SPDX-License-Identifier: BSD-3-Clause
/// Where a call that completes requests writes what it tells. MPI refuses the call if such a place is missing, before
/// it completes anything, so Sluice does nothing for it: the call goes on as the program made it, whose handles MPI
/// knows.
#pragma once

#include <mpi.h>

namespace sluice::plugin {

/// One of the places is null. A status that is null may be MPI_STATUS_IGNORE, which depends on the MPI.
template <class... Place>
bool lacks_a_place(MPI_Status const* status, Place const*... places) noexcept {
    MPI_Status const* const ignore = MPI_STATUS_IGNORE;
    return (status == nullptr && ignore != nullptr) || (... || (places == nullptr));
}

/// The same for calls that take an array, whose number MPI may refuse, too.
template <class... Place>
bool lacks_a_place_of(int count, MPI_Request const* requests, MPI_Status const* statuses,
                      Place const*... places) noexcept {
    return count < 0 || requests == nullptr || lacks_a_place(statuses, places...);
}

}  // namespace sluice::plugin
