// SPDX-License-Identifier: BSD-3-Clause
/// What the persistent standard sends of the program send. A table of constant size; those that find no room go as
/// they are. An entry lives from MPI_Send_init to MPI_Request_free, or until its handle is given to another request.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>

#include "base/fixed_table.hpp"
#include "mpi/handle_key.hpp"
#include "plugin/services/flood/marks.hpp"

namespace sluice::plugin {

class PersistentSends {
  public:
    /// A persistent request was made. `message`: nothing if it is no standard send.
    void made(MPI_Request request, std::optional<Message> const& message) noexcept {
        Entry& entry = entries_[base::slot_of_key(mpi::handle_key(request), k_bits)];
        if (message)
            entry = {request, *message};
        else if (entry.request == request)
            entry.request = MPI_REQUEST_NULL;
        any_ = any_ || message;
    }
    void freed(MPI_Request request) noexcept { made(request, std::nullopt); }
    bool any() const noexcept { return any_; }
    Message const* find(MPI_Request request) const noexcept {
        Entry const& entry = entries_[base::slot_of_key(mpi::handle_key(request), k_bits)];
        return entry.request == request && request != MPI_REQUEST_NULL ? &entry.message : nullptr;
    }

  private:
    static constexpr unsigned k_bits = 9;
    struct Entry {
        MPI_Request request = MPI_REQUEST_NULL;
        Message message{};
    };
    bool any_ = false;
    std::array<Entry, std::size_t{1} << k_bits> entries_{};
};

}  // namespace sluice::plugin
