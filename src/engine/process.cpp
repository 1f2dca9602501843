// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process.hpp"

#include <exception>
#include <new>
#include <semaphore>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "engine/told_line.hpp"
#include "mpi/mpi.hpp"
#include "sluice/error.hpp"

namespace sluice::engine {

namespace {

// The attribute holds a weak reference, because the Contexts own the Process. The key must live for the whole run, as
// keys of attributes do, but no C++ object of ours depends on when MPI_COMM_SELF is freed.
struct Slot {
    std::weak_ptr<Process> process;
    std::weak_ptr<node::ArrayMemory> arrays;
};

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else.
int delete_slot(MPI_Comm, int, void* slot, void*) {
    std::unique_ptr<Slot> const ended(static_cast<Slot*>(slot));
    if (auto const process = ended->process.lock()) process->end_mpi();
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

std::shared_ptr<node::ArrayMemory> arrays_of(Slot& slot) {
    if (auto arrays = slot.arrays.lock()) return arrays;
#ifdef SLUICE_SIMULATED
    auto arrays = node::ArrayMemory::make(false, "the ranks are simulated");
#else
    auto arrays = node::ArrayMemory::make(true);
#endif
    slot.arrays = arrays;
    return arrays;
}

/// Jobs run one after the other, so when this one runs, no earlier job is running.
class Fence final : public kernel::HelperThread::Job {
  public:
    kernel::HelperThread::Clock::duration run() noexcept override {
        if (!std::exchange(has_run_, true)) ran_.release();
        return kernel::HelperThread::k_until_woken;
    }
    void wait() noexcept { ran_.acquire(); }

  private:
    bool has_run_ = false;
    std::binary_semaphore ran_{0};
};

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
    auto process = std::make_shared<Process>(settings, arrays_of(*slot));
    slot->process = process;
    return process;
}

void Process::end_mpi() noexcept {
    mpi_has_ended_.store(true, std::memory_order_seq_cst);
    if (!helper_calls_mpi_.load(std::memory_order_relaxed)) return;
    Fence fence;
    try {
        helper_thread_->add(fence);
    } catch (Error const&) {
        return;  // there is no thread
    }
    fence.wait();
    helper_thread_->remove(fence);
}

void Process::tell_if_late(char const* object, int rank) noexcept {
    // An object whose making is refused is no mistake of its own.
    if (!mpi_has_ended() || std::uncaught_exceptions() != 0 || late_is_told_.exchange(true)) return;
    try {
        tell_line(
            "rank " + std::to_string(rank) + " destroys " + object +
            " after MPI_Finalize, so what it holds of MPI is not freed; destroy it before, for example at the end "
            "of a block { } around its use");
    } catch (std::bad_alloc const&) {  // the line is all that is lost
    }
}

void Process::tell_want_of_memory(int rank) {
    if (want_is_told_.exchange(true)) return;
    MemoryLimit const& limit = memory_.memory_limit();
    tell_line("rank " + std::to_string(rank) + " has no memory left for communication: the limit of the process is " +
              base::format_bytes(limit.limit) + " (" + limit.source + "), and it uses " +
              base::format_bytes(limit.used) + "; communication makes do with " +
              base::format_bytes(Budget::guaranteed_minimum) +
              " at a time, which is slow. Raise the limit (setting memory, SLUICE_MEMORY)");
}

}  // namespace sluice::engine
