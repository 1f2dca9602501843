// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/datatypes.hpp"

#include <new>

#include "mpi/handle_key.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

void Datatypes::add(MPI_Datatype type) noexcept {
    TypeSize const size = size_from_mpi(type);
    CallersLock const lock(changing_);
    try {
        // A type may be committed twice. That of a freed handle has its entry no more, or is about to lose it.
        Known& known = known_.try_emplace(mpi::handle_key(type)).first->second;
        known.size = size;
        known.number = next_number_++;
    } catch (std::bad_alloc const&) {  // it stays unknown, and MPI is asked where that matters
    }
    last_key_ = 0;
}

void Datatypes::add_reference(MPI_Datatype type) noexcept {
    CallersLock const lock(changing_);
    if (auto const found = known_.find(mpi::handle_key(type)); found != known_.end()) ++found->second.references;
}

std::optional<TypeSize> Datatypes::find(MPI_Datatype type) noexcept {
    CallersLock const lock(changing_);
    std::uint64_t const key = mpi::handle_key(type);
    if (key == last_key_) return last_;
    auto const found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    last_key_ = key;
    last_ = found->second.size;
    return last_;
}

std::uint64_t Datatypes::number_of(MPI_Datatype type) noexcept {
    CallersLock const lock(changing_);
    auto const found = known_.find(mpi::handle_key(type));
    return found != known_.end() ? found->second.number : 0;
}

void Datatypes::remove(MPI_Datatype type, std::uint64_t number) noexcept {
    CallersLock const lock(changing_);
    auto const found = known_.find(mpi::handle_key(type));
    if (found == known_.end() || found->second.number != number || --found->second.references > 0) return;
    known_.erase(found);
    last_key_ = 0;
}

TypeSize size_from_mpi(MPI_Datatype type) noexcept {
    MPI_Count size = 0;
    MPI_Count low = 0;
    MPI_Count extent = 0;
    TypeSize found;
    if (MPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0) found.size = static_cast<std::uint64_t>(size);
    if (MPI_Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS && extent > 0)
        found.extent = static_cast<std::uint64_t>(extent);
    if (MPI_Type_get_true_extent_x(type, &low, &extent) == MPI_SUCCESS && extent > 0) {
        found.low = low;
        found.span = static_cast<std::uint64_t>(extent);
    }
    return found;
}

std::optional<TypeSize> size_of_accepted(MPI_Datatype type) noexcept {
#ifdef MPICH_VERSION
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return std::nullopt;
    if (combiner == MPI_COMBINER_NAMED) return std::nullopt;
#endif
    return size_from_mpi(type);
}

}  // namespace sluice::plugin
