// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process.hpp"

#include "mpi/mpi.hpp"

namespace sluice::engine {

namespace {

// The attribute holds a weak reference, because the Contexts own the Process. The key must live for the whole run, as
// keys of attributes do, but no C++ object of ours depends on when MPI_COMM_SELF is freed.
struct Slot {
    std::weak_ptr<Process> process;
};

int delete_slot(MPI_Comm, int, void* slot, void*) {
    delete static_cast<Slot*>(slot);
    return MPI_SUCCESS;
}

/// A copy of MPI_COMM_SELF has no Process. This is a function of our own, because the plugin cannot name a function of
/// libmpi.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return MPI_SUCCESS;
}

int process_key() {
    static int const key = [] {
        int made = MPI_KEYVAL_INVALID;
        mpi::check(MPI_Comm_create_keyval(copy_nothing, delete_slot, &made, nullptr), "MPI_Comm_create_keyval");
        return made;
    }();
    return key;
}

/// Returns null if the attribute is not set yet.
Slot* slot_of_this_rank() {
    void* value = nullptr;
    int found = 0;
    mpi::check(MPI_Comm_get_attr(MPI_COMM_SELF, process_key(), &value, &found), "MPI_Comm_get_attr");
    return found == 0 ? nullptr : static_cast<Slot*>(value);
}

}  // namespace

std::shared_ptr<Process> Process::existing() {
    Slot const* const slot = slot_of_this_rank();
    return slot == nullptr ? nullptr : slot->process.lock();
}

std::shared_ptr<Process> Process::of_this_rank(Settings const& settings) {
    Slot* slot = slot_of_this_rank();
    if (slot == nullptr) {
        auto made = std::make_unique<Slot>();
        mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, process_key(), made.get()), "MPI_Comm_set_attr");
        slot = made.release();
    }
    if (auto process = slot->process.lock()) return process;
    auto process = std::make_shared<Process>(settings);
    slot->process = process;
    return process;
}

}  // namespace sluice::engine
