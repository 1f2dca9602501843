// SPDX-License-Identifier: BSD-3-Clause
/// The receiving half of a call whose sending half may leave as a mark. MPI refuses the whole call if this half is
/// wrong, and then nothing may have left: so a mark leaves only where MPI will accept it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "plugin/services/requests/answer_places.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

struct ReceivingHalf {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    int source;
    int tag;
    MPI_Comm comm;
    MPI_Status* status;

    /// False where that is not known. MPI is not asked.
    bool is_right(Call& call, int largest_tag) const noexcept {
        MessageBytes sizes(call.watch().communicators(), call.watch().datatypes());
        bool const has_source = source == MPI_PROC_NULL || source == MPI_ANY_SOURCE ||
                                (source >= 0 && static_cast<std::uint64_t>(source) < sizes.size(comm));
        bool const has_tag = tag == MPI_ANY_TAG || (tag >= 0 && tag <= largest_tag);
        bool const has_buffer = count == 0 || (count > 0 && buffer != nullptr && !placed(buffer));
        sizes.bytes(1, type);
        return has_source && has_tag && has_buffer && !lacks_a_place(status) && !sizes.left_out();
    }
};

}  // namespace sluice::plugin
