// SPDX-License-Identifier: BSD-3-Clause
/// Pages of the program that are being received: a thread that touches one waits until it is there.
///
///                     take_aside                                     give_back
///     the program's   [ pages ]   ──>   [ guarded: nothing here ]    ──>   [ pages ]       a touch of a guarded page
///     waits, range                └─ moved ─┐                                  ┌─ moved ┘         in the program or in
///     a system call aside                          └─>  [ pages, written by MPI ] ────┘
///
/// Nothing is copied or cleared: the program's own pages are the memory that the message lands in, so bytes that it
/// does not fill stay what they were. Guards are those of one userfaultfd. A range is taken aside by mremap, which
/// leaves the range registered and without pages, in one step; so no touch gets past the guard.
///
/// There are three ways back, and each needs less of the kernel or gives up something:
///
///     remap   mremap of all pages, which replaces the guard in one step, then the waiters are woken. Page tables move,
///             not pages. Pinned pages move too.
///     move    UFFDIO_MOVE (Linux 6.8), page by page; serves what mremap cannot: a process that has no mapping left.
///     copy    UFFDIO_COPY, page by page; needs a second page for each.
///
/// Where pages leave an address, the memory hooks of communication libraries are told, as if they had been unmapped:
/// what is registered of that address are no longer the pages that will be there next.
///
/// The rung is the first that is tried; what it cannot give back, the next one below it does.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernel/files/descriptor.hpp"
#include "kernel/guards/hooked_calls.hpp"
#include "kernel/guards/mappings.hpp"
#include "kernel/guards/range_table.hpp"

namespace sluice::kernel {

/// What a machine offers, worst first.
enum class Rung : std::uint8_t { off, copy, move, remap };
std::string_view name_of(Rung rung) noexcept;

/// Why pages were not taken aside.
enum class Refusal : std::uint8_t {
    none,
    off,              ///< there is no userfaultfd, or this is a child of fork()
    not_whole_pages,  ///< the range begins or ends inside a page, or is empty
    not_private,      ///< shared, of a file, or unmapped
    several,          ///< the range covers more than one mapping
    not_writable,     ///< the program cannot read and write it
    locked,           ///< mlock: the program wants that nothing ever waits for these pages
    guarded,          ///< another userfaultfd has it, or a guard of this one
    no_room,          ///< no mapping or address space is left for the pages aside
    count_            ///< how many there are
};
std::string_view name_of(Refusal refusal) noexcept;

struct Aside {
    std::byte* pages = nullptr;  ///< the program's range, guarded
    std::byte* aside = nullptr;  ///< where its pages are now, to be written
    std::size_t bytes = 0;
};

struct Fault {
    std::byte* address;  ///< the page's first byte
    pid_t thread;        ///< 0 if the kernel does not tell
};

/// The one userfaultfd of a process. All functions may be called from any thread. None allocates after the constructor.
class GuardedPages {
  public:
    /// Opens the userfaultfd; the descriptor is out of the program's way (out_of_the_way). `best` limits the rung.
    /// `generation`, if given, returns a number that changes with each call that may change or lock a mapping: what was
    /// seen of the mappings then holds while it stays the same.
    explicit GuardedPages(Rung best = Rung::remap, std::uint64_t (*generation)() = nullptr);
    GuardedPages(GuardedPages const&) = delete;
    GuardedPages& operator=(GuardedPages const&) = delete;
    /// All pages have been given back.
    ~GuardedPages();

    Rung rung() const noexcept { return rung_; }
    /// Why the rung is off, and what would help, in one line; empty if it is not off.
    std::string const& why_not() const noexcept { return why_not_; }
    /// Readable while a thread waits for a page; -1 if the rung is off.
    int descriptor() const noexcept { return faults_.get(); }

    /// Takes whole pages aside. Nothing has changed if there is no result; `why`, if given, is the reason, and
    /// refused(reason) is one more.
    std::optional<Aside> take_aside(void* pages, std::size_t bytes, Refusal* why = nullptr) noexcept;

    /// Puts the pages back, which wakes all threads that wait for one. The pages aside are written no more. Ends the
    /// process with a line on standard error if no rung can do it: a thread that waits would wait for ever.
    void give_back(Aside const& taken) noexcept;

    /// Returns a thread that waits for a page and was not reported yet; does not wait.
    std::optional<Fault> next_fault() noexcept;

    /// In a child of fork(), where it guards nothing: closes the child's descriptors.
    void in_child() noexcept;

    std::uint64_t refused(Refusal why) const noexcept {
        return refused_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
    }
    /// How many ranges were given back by that rung, wholly or in part.
    std::uint64_t given_back_by(Rung rung) const noexcept {
        return given_back_[static_cast<std::size_t>(rung)].load(std::memory_order_relaxed);
    }

  private:
    void open(Rung best);
    void try_out();
    Refusal why_not_to_take(Aside const& wanted, MappedRange& mapped) const noexcept;
    Refusal try_to_take(Aside& taken) noexcept;
    Refusal guard_and_move(Aside& taken, MappedRange const& mapped) noexcept;
    Aside neighbour_of(Aside const& taken, MappedRange const& mapped) const noexcept;
    bool begin_mapping(Aside const& range, std::byte* page) const noexcept;
    bool guard(Aside const& range) const noexcept;
    void unguard(Aside const& range) const noexcept;
    // What is given back leaves `left`, which is empty if all was.
    void remap_back(Aside& left) noexcept;
    void move_back(Aside& left) const noexcept;
    void copy_back(Aside& left) const noexcept;
    void give_back_by(Rung rung, Aside& left) noexcept;
    void give_back_by_any(std::span<Rung const> order, Aside left) noexcept;
    bool move_on(Aside& part) const noexcept;
    void tell_afterwards(Aside const& part) const noexcept;
    void finish_by_pages(Aside const& part) const noexcept;
    bool is_ours() const noexcept;
    bool is_what_was_opened() const noexcept;

    Descriptor faults_;
    dev_t device_ = 0;  // what faults_ was when it was opened: a program may close it, and get its number
    ino_t inode_ = 0;
    pid_t process_ = 0;
    bool can_move_ = false;
    bool tells_thread_ = false;
    Rung rung_ = Rung::off;
    std::string why_not_;
    Mappings mappings_;
    HookedCalls hooked_;
    RangeTable taken_;
    std::mutex one_by_one_;
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Refusal::count_)> refused_{};
    std::array<std::atomic<std::uint64_t>, 4> given_back_{};
};

}  // namespace sluice::kernel
