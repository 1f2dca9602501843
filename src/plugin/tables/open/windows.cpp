// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/windows.hpp"

#include <new>

#include "mpi/handle_key.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

void Windows::add(MPI_Win window, Known const& of_communicator) noexcept {
    CallersLock const lock(changing_);
    try {
        known_[mpi::handle_key(window)] = {of_communicator, {}};
    } catch (std::bad_alloc const&) {  // then its bytes go to no rank that is named
    }
    last_key_ = 0;
}

void Windows::remove(std::uint64_t key) noexcept {
    CallersLock const lock(changing_);
    known_.erase(key);
    last_key_ = 0;
}

void Windows::keep_memory(std::uint64_t key, Allocated const& memory) noexcept {
    CallersLock const lock(changing_);
    if (auto const found = known_.find(key); found != known_.end()) found->second.memory = memory;
}

Windows::Allocated Windows::memory_of(std::uint64_t key) noexcept {
    CallersLock const lock(changing_);
    auto const found = known_.find(key);
    return found != known_.end() ? found->second.memory : Allocated{};
}

int Windows::world_rank(MPI_Win window, int rank) noexcept {
    Known known;
    {
        CallersLock const lock(changing_);
        std::uint64_t const key = mpi::handle_key(window);
        if (key != last_key_) {
            auto const found = known_.find(key);
            if (found == known_.end()) return -1;
            last_key_ = key;
            last_ = found->second.ranks;
        }
        known = last_;
    }
    if (rank < 0 || rank >= known.size) return -1;
    if (known.ranks.is_regular() || known.size == 1) return static_cast<int>(known.ranks.at(rank));
    MPI_Group group = MPI_GROUP_NULL;
    if (MPI_Win_get_group(window, &group) != MPI_SUCCESS) return -1;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int found = MPI_UNDEFINED;
    MPI_Group_translate_ranks(group, 1, &rank, world, &found);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return found == MPI_UNDEFINED ? -1 : found;
}

}  // namespace sluice::plugin
