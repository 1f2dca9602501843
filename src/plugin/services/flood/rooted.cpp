// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/flood/rooted.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "plugin/binding/tally.hpp"
#include "plugin/services/flood/control.hpp"
#include "plugin/tables/communicators.hpp"

namespace sluice::plugin {

namespace {

bool is_over(MPI_Request& request) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) request = MPI_REQUEST_NULL;
    return request == MPI_REQUEST_NULL;
}

}  // namespace

RootedCalls::RootedCalls(Budget const& budget, Communicators& communicators, std::uint64_t spacing,
                         HoldRule::Duration hold, Counts counts)
    : communicators_(communicators),
      spacing_(spacing),
      hold_(hold),
      counts_(counts),
      memory_(memory::leased_bytes(budget, k_entries * sizeof(Entry), Purpose::bookkeeping)),
      entries_(new (memory_.get()) Entry[k_entries]) {
    let_go_.fill(MPI_REQUEST_NULL);
}

RootedCalls::Entry* RootedCalls::entry_of(MPI_Comm comm) noexcept {
    Known const known = communicators_.find(comm);
    if (known.id == 0 || known.id >= k_entries || known.size < 2 || known.remote > 0) return nullptr;
    used_ = std::max(used_, known.id + 1);
    return &entries_[known.id];
}

void RootedCalls::did(MPI_Comm comm, std::uint64_t bytes) {
    Entry* const entry = entry_of(comm);
    // Larger messages wait for their receivers by themselves.
    if (entry == nullptr || bytes > k_eager_limit) return;
    entry->bytes += memory_of_message(bytes);
    if (entry->bytes < spacing_) return;
    entry->bytes = 0;
    wait(entry->barrier);
    add(counts_.barriers, 1);
    if (MPI_Ibarrier(comm, &entry->barrier) != MPI_SUCCESS) entry->barrier = MPI_REQUEST_NULL;
}

MPI_Request* RootedCalls::place() {
    auto const free = std::find_if(let_go_.begin(), let_go_.end(), is_over);
    return free == let_go_.end() ? nullptr : &*free;
}

/// A program whose members meet in other calls before all have done this one is wrong, but may have worked: so this
/// wait ends, too, as long as there is room to keep what it waited for.
void RootedCalls::wait(MPI_Request& barrier) {
    auto const begin = std::chrono::steady_clock::now();
    while (!is_over(barrier)) {
        if (std::chrono::steady_clock::now() - begin >= hold_) {
            if (MPI_Request* const kept = place(); kept != nullptr) {
                *kept = std::exchange(barrier, MPI_REQUEST_NULL);
                add(counts_.let_go, 1);
                return;
            }
        }
        FloodControl::pause(begin);
    }
}

void RootedCalls::before_free(MPI_Comm comm) {
    if (Entry* const entry = entry_of(comm); entry != nullptr) wait(entry->barrier);
}

bool RootedCalls::sweep() {
    bool none = true;
    for (std::uint32_t id = 0; id < used_; ++id)
        none = is_over(entries_[id].barrier) && none;
    for (MPI_Request& request : let_go_)
        none = is_over(request) && none;
    return none;
}

}  // namespace sluice::plugin
