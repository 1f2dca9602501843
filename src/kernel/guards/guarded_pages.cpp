// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/guards/guarded_pages.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kernel/files/read_text.hpp"
#include "kernel/guards/raw_calls.hpp"
#include "kernel/guards/userfaultfd.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::kernel {

namespace {

uffdio_range range_of(Aside const& taken) noexcept {
    return {number_of(taken.pages), taken.bytes};
}

bool exists(std::byte* page) noexcept {
    unsigned char in_memory = 0;
    return mincore(page, page_size(), &in_memory) == 0 && (in_memory & 1) != 0;
}

/// Changes no byte: another thread may write the same. Clang makes a read of an addition of 0, and the page of a read
/// is one of zeros that all processes share.
void make_exist(std::byte* page) noexcept {
    auto volatile* const byte = reinterpret_cast<unsigned char volatile*>(page);
    unsigned char is = *byte;
    while (!__atomic_compare_exchange_n(byte, &is, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

bool has_seccomp_filter() {
    std::array<char, 4096> room;
    return number_after(read_text("/proc/self/status", room), "Seccomp:").value_or(0) != 0;
}

/// What is wrong if there is no descriptor, and what would help.
std::string why_there_is_none(int error) {
    constexpr char k_grants[] = "sysctl vm.unprivileged_userfaultfd=1, CAP_SYS_PTRACE or access to /dev/userfaultfd";
    if (error == ENOSYS && !has_seccomp_filter())
        return "this kernel has no userfaultfd (CONFIG_USERFAULTFD), so no page can be guarded";
    if (open_userfaultfd(FaultsOf::user_mode).is_open())
        return std::string("no privilege to guard pages against system calls, too; one of these gives it: ") + k_grants;
    std::string const refused = std::string("userfaultfd is refused (") + std::strerror(error) + "); ";
    return has_seccomp_filter() ? refused + "a seccomp profile is in force, and one that allows it would help"
                                : refused + "one of these gives it: " + k_grants;
}

}  // namespace

std::string_view name_of(Rung rung) noexcept {
    switch (rung) {
        case Rung::off:
            return "off";
        case Rung::copy:
            return "copy";
        case Rung::move:
            return "move";
        case Rung::remap:
            return "remap";
    }
    return "";
}

std::string_view name_of(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::none:
            return "none";
        case Refusal::off:
            return "no guards";
        case Refusal::not_whole_pages:
            return "no whole pages";
        case Refusal::not_private:
            return "shared, of a file or unmapped";
        case Refusal::several:
            return "several mappings";
        case Refusal::not_writable:
            return "not writable";
        case Refusal::locked:
            return "locked in memory";
        case Refusal::guarded:
            return "guarded already";
        case Refusal::no_room:
            return "no mapping left";
        case Refusal::count_:
            break;
    }
    return "";
}

GuardedPages::GuardedPages(Rung best, std::uint64_t (*generation)()) : process_(getpid()), mappings_(generation) {
    open(best);
    if (rung_ == Rung::off) faults_.reset();
    if (rung_ != Rung::off) mappings_.keep();
}

GuardedPages::~GuardedPages() {
    if (!is_ours()) faults_.release();
}

void GuardedPages::open(Rung best) {
    if (best == Rung::off) {
        why_not_ = "guarded pages are turned off";
        return;
    }
    Descriptor opened = open_userfaultfd(FaultsOf::every_access);
    if (!opened.is_open()) {
        why_not_ = why_there_is_none(errno);
        return;
    }
    faults_ = out_of_the_way(opened.release());
    if (!faults_.is_open()) {
        why_not_ = errno == EMFILE
                       ? "fewer than 256 descriptors may be open (ulimit -n), so none is left for guarded pages"
                       : std::string("no descriptor for guarded pages: ") + std::strerror(errno);
        return;
    }
    std::uint64_t const thread =
        can_have_feature(FaultsOf::every_access, UFFD_FEATURE_THREAD_ID) ? UFFD_FEATURE_THREAD_ID : 0;
    if (shake_hands(faults_, thread) == 0) {
        why_not_ = std::string("userfaultfd is refused: ") + std::strerror(errno);
        return;
    }
    tells_thread_ = thread != 0;
    struct stat status {};
    if (fstat(faults_.get(), &status) == 0) {
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
    can_move_ = can_move_pages(FaultsOf::every_access);
    rung_ = best == Rung::move && !can_move_ ? Rung::copy : best;
    try_out();
}

/// The kernel says nothing of what mremap can do to a guarded range, so one page of our own goes there and back.
void GuardedPages::try_out() {
    void* const at = mmap(nullptr, 3 * page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    auto* const page = static_cast<std::byte*>(at) + page_size();
    *page = std::byte{1};
    Refusal why = Refusal::none;
    auto const taken = take_aside(page, page_size(), &why);
    if (taken) {
        give_back(*taken);
        given_back_[static_cast<std::size_t>(rung_)].store(0, std::memory_order_relaxed);
    } else {
        why_not_ = why == Refusal::no_room
                       ? "the kernel takes no pages aside (mremap: " + std::string(std::strerror(errno)) +
                             "); Linux 5.7 and newer can"
                       : "pages cannot be guarded here: " + std::string(name_of(why));
        rung_ = Rung::off;
    }
    unmap(static_cast<std::byte*>(at), 3 * page_size());
}

/// A program may have closed the descriptor and opened its own, and a child of fork() has a copy that guards nothing of
/// it.
bool GuardedPages::is_ours() const noexcept {
    return getpid() == process_ && is_what_was_opened();
}

bool GuardedPages::is_what_was_opened() const noexcept {
    struct stat status {};
    return faults_.is_open() && fstat(faults_.get(), &status) == 0 && status.st_dev == device_ &&
           status.st_ino == inode_;
}

void GuardedPages::in_child() noexcept {
    if (!is_what_was_opened()) faults_.release();
    faults_.reset();
    mappings_.let_go();
}

Refusal GuardedPages::why_not_to_take(Aside const& wanted, MappedRange& mapped) const noexcept {
    if (rung_ == Rung::off || !is_ours()) return Refusal::off;
    if (wanted.bytes == 0 || (number_of(wanted.pages) | wanted.bytes) % page_size() != 0)
        return Refusal::not_whole_pages;
    auto const mapping = mappings_.at(wanted.pages);
    if (!mapping || mapping->shared || mapping->of_file) return Refusal::not_private;
    if (!mapping->readable || !mapping->writable) return Refusal::not_writable;
    if (mapping->end - number_of(wanted.pages) < wanted.bytes) return Refusal::several;
    if (mappings_.is_locked(*mapping)) return Refusal::locked;
    mapped = *mapping;
    return Refusal::none;
}

bool GuardedPages::guard(Aside const& range) const noexcept {
    uffdio_register guarded{};
    guarded.range = range_of(range);
    guarded.mode = UFFDIO_REGISTER_MODE_MISSING;
    return ioctl(faults_.get(), UFFDIO_REGISTER, &guarded) == 0;
}

/// Wakes the threads that wait, too.
void GuardedPages::unguard(Aside const& range) const noexcept {
    uffdio_range all = range_of(range);
    ioctl(faults_.get(), UFFDIO_UNREGISTER, &all);
}

/// A mapping whose first page does not exist yet would begin its history aside, and the kernel could not merge it with
/// its neighbours afterwards. The guard is off meanwhile, or this thread would wait for itself.
bool GuardedPages::begin_mapping(Aside const& range, std::byte* page) const noexcept {
    unguard(range);
    make_exist(page);
    return guard(range);
}

/// A mapping all of whose pages leave loses its history, too, unless the pages come back with it (remap). So one page
/// next to the range, of the same mapping, is guarded for the moment and stays; empty if there is none or it need not
/// be.
Aside GuardedPages::neighbour_of(Aside const& taken, MappedRange const& mapped) const noexcept {
    std::uint64_t const begin = number_of(taken.pages), end = begin + taken.bytes;
    if (rung_ == Rung::remap) return {};
    // A mapping that begins inside a huge page would divide it.
    std::size_t const after = end % k_huge_page == 0 && mapped.end - end >= k_huge_page ? k_huge_page : page_size();
    if (end < mapped.end) return {taken.pages + taken.bytes, nullptr, after};
    std::size_t const before =
        begin % k_huge_page == 0 && begin - mapped.begin >= k_huge_page ? k_huge_page : page_size();
    if (mapped.begin < begin) return {taken.pages - before, nullptr, before};
    return {};
}

Refusal GuardedPages::guard_and_move(Aside& taken, MappedRange const& mapped) noexcept {
    Aside const neighbour = neighbour_of(taken, mapped);
    Aside both = taken;
    both.bytes += neighbour.bytes;
    if (neighbour.bytes != 0) both.pages = std::min(both.pages, neighbour.pages);
    if (!guard(both))
        return errno == EBUSY ? Refusal::guarded : errno == ENOMEM ? Refusal::no_room : Refusal::not_private;
    if (!exists(taken.pages) && !begin_mapping(both, taken.pages)) return Refusal::no_room;
    taken.aside = move_away(taken.pages, taken.bytes);
    if (taken.aside == nullptr) {
        Refusal const why = errno == EFAULT ? Refusal::several : Refusal::no_room;
        int const error = errno;
        unguard(both);
        errno = error;
        return why;
    }
    if (neighbour.bytes != 0) unguard(neighbour);
    return Refusal::none;
}

Refusal GuardedPages::try_to_take(Aside& taken) noexcept {
    MappedRange mapped;
    Refusal refusal = why_not_to_take(taken, mapped);
    if (refusal != Refusal::none) return refusal;
    switch (taken_.enter(taken.pages, taken.bytes)) {
        case RangeTable::Entered::overlaps:
            return Refusal::guarded;
        case RangeTable::Entered::full:
            return Refusal::no_room;
        case RangeTable::Entered::yes:
            break;
    }
    refusal = guard_and_move(taken, mapped);
    if (refusal != Refusal::none) taken_.leave(taken.pages);
    return refusal;
}

std::optional<Aside> GuardedPages::take_aside(void* pages, std::size_t bytes, Refusal* why) noexcept {
    Aside taken{static_cast<std::byte*>(pages), nullptr, bytes};
    // A neighbour must not be what another thread takes now.
    std::unique_lock<std::mutex> const one_by_one =
        rung_ == Rung::remap ? std::unique_lock<std::mutex>() : std::unique_lock(one_by_one_);
    Refusal const refusal = try_to_take(taken);
    if (why != nullptr) *why = refusal;
    if (refusal == Refusal::none) return taken;
    refused_[static_cast<std::size_t>(refusal)].fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
}

}  // namespace sluice::kernel
