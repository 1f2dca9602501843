// SPDX-License-Identifier: BSD-3-Clause
// The ways back for pages that were taken aside.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "kernel/files/standard_error.hpp"
#include "kernel/guards/guarded_pages.hpp"
#include "kernel/guards/mappings.hpp"
#include "kernel/guards/raw_calls.hpp"
#include "kernel/guards/userfaultfd.hpp"
#include "kernel/page_map.hpp"

namespace sluice::kernel {

namespace {

void advance(Aside& left, std::size_t bytes) noexcept {
    left.pages += bytes;
    left.aside += bytes;
    left.bytes -= bytes;
}

[[noreturn]] void end_process() noexcept {
    put_on_standard_error(
        "sluice: pages that were received cannot be given back to the program: the kernel refuses each way\n");
    std::abort();
}

}  // namespace

/// Moves the pages on, to an address that no library has seen. The one that they leave stays mapped until the hooks
/// have been called: other memory must not be there before they have forgotten what was registered of it. The way back
/// to the program could leave it mapped as well, but if the kernel then has no room, the guard is gone already. Without
/// room here nothing is lost but that the hooks are told after other memory may be there; false then.
bool GuardedPages::move_on(Aside& part) const noexcept {
    std::byte* const to = move_away(part.aside, part.bytes);
    if (to == nullptr) return false;
    hooked_.unmap(part.aside, part.bytes);
    part.aside = to;
    return true;
}

/// The hooks are told of an address that is free already, unless there is other memory by now.
void GuardedPages::tell_afterwards(Aside const& part) const noexcept {
    if (reserve(part.bytes, part.aside) != nullptr) hooked_.unmap(part.aside, part.bytes);
}

/// A library may have split the pages aside into several mappings (madvise), which mremap moves one by one. No page is
/// missing in between: each part replaces its part of the guard in one step, and the rest of the guard stays. The
/// mapping is looked up first, for an mremap of more than one is refused by kernels before Linux 6.17 only after they
/// have unmapped the whole target, the guard.
///
/// A library that registers memory for RDMA keeps it from children of fork(). A mapping that is moved stays so for
/// good, because the library ends this at the address where it registered: it is ended here.
void GuardedPages::remap_back(Aside& left) noexcept {
    while (left.bytes != 0) {
        auto const mapping = mappings_.at(left.aside);
        if (!mapping) return;
        Aside part = left;
        part.bytes = std::min<std::size_t>(left.bytes, mapping->end - number_of(left.aside));
        std::size_t const bytes = part.bytes;
        bool const moved_on = move_on(part);
        leave_to_children(part.aside, part.bytes);
        if (remap(part.aside, part.bytes, part.pages)) {
            uffdio_range range{number_of(part.pages), part.bytes};
            ioctl(faults_.get(), UFFDIO_WAKE, &range);
            if (!moved_on) tell_afterwards(part);
        } else if (moved_on) {
            constexpr std::array k_others{Rung::move, Rung::copy};
            give_back_by_any(k_others, part);
        } else {
            return;
        }
        advance(left, bytes);
    }
}

/// EBUSY: a page is pinned, or shared with a child since a fork. It must not be copied, because what has pinned it may
/// still write to it.
void GuardedPages::move_back(Aside& left) const noexcept {
    while (left.bytes != 0 && can_move_) {
        MoveOfPages move{number_of(left.pages), number_of(left.aside), left.bytes, k_move_over_holes, 0};
        bool const all = ioctl(faults_.get(), k_move_ioctl, &move) == 0;
        bool const again = !all && errno == EAGAIN;
        if (move.moved > 0) advance(left, static_cast<std::size_t>(move.moved));
        if (!all && !again) return;
    }
}

/// A page aside that does not exist is not copied: it is not there afterwards either, and reads as zeros. What was
/// registered of the program's range are the pages aside, so it must be forgotten, too.
void GuardedPages::copy_back(Aside& left) const noexcept {
    PageMap const map;
    hooked_.drop(left.pages, left.bytes);
    while (left.bytes != 0) {
        auto const run = map.first_run(number_of(left.aside), left.bytes);
        std::size_t bytes = run.bytes;
        if (run.has_content) {
            uffdio_copy copy{number_of(left.pages), number_of(left.aside), bytes, 0, 0};
            bool const all = ioctl(faults_.get(), UFFDIO_COPY, &copy) == 0;
            if (!all && errno != EAGAIN) return;
            bytes = copy.copy > 0 ? static_cast<std::size_t>(copy.copy) : 0;
            if (bytes != 0) madvise(left.aside, bytes, MADV_DONTNEED);  // so there is never a second copy of all
        }
        advance(left, bytes);
    }
}

/// The pages of this part went back one by one. The mapping that goes first makes room for the one that taking the
/// guard off may need; that wakes the threads that wait for a page that has no content.
void GuardedPages::finish_by_pages(Aside const& part) const noexcept {
    if (part.bytes == 0) return;
    hooked_.unmap(part.aside, part.bytes);
    unguard(part);
}

void GuardedPages::give_back_by(Rung rung, Aside& left) noexcept {
    Aside part = left;
    if (rung == Rung::remap) remap_back(left);
    if (rung == Rung::move) move_back(left);
    if (rung == Rung::copy) copy_back(left);
    part.bytes -= left.bytes;
    if (rung != Rung::remap) finish_by_pages(part);
    if (part.bytes != 0) given_back_[static_cast<std::size_t>(rung)].fetch_add(1, std::memory_order_relaxed);
}

void GuardedPages::give_back_by_any(std::span<Rung const> order, Aside left) noexcept {
    for (Rung const rung : order)
        if (left.bytes != 0) give_back_by(rung, left);
    if (left.bytes != 0) end_process();
}

void GuardedPages::give_back(Aside const& taken) noexcept {
    if (getpid() != process_) return;  // a child of fork() has neither the guard nor the right to end
    // The chosen rung first; the others serve what it cannot.
    constexpr std::array k_orders{std::array{Rung::copy, Rung::remap, Rung::move},
                                  std::array{Rung::move, Rung::remap, Rung::copy},
                                  std::array{Rung::remap, Rung::move, Rung::copy}};
    give_back_by_any(k_orders[static_cast<std::size_t>(std::max(rung_, Rung::copy)) - 1], taken);
    taken_.leave(taken.pages);
}

std::optional<Fault> GuardedPages::next_fault() noexcept {
    uffd_msg message;
    while (rung_ != Rung::off && read(faults_.get(), &message, sizeof message) == sizeof message)
        if (message.event == UFFD_EVENT_PAGEFAULT)
            return Fault{reinterpret_cast<std::byte*>(message.arg.pagefault.address & ~(page_size() - 1)),
                         tells_thread_ ? static_cast<pid_t>(message.arg.pagefault.feat.ptid) : 0};
    return std::nullopt;
}

}  // namespace sluice::kernel
