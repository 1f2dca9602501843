// SPDX-License-Identifier: BSD-3-Clause
/// Whose memory it is. The kernel says how much of the process is resident; what it grows by inside MPI calls is MPI's,
/// less the pages of the call's own buffers.
///
///     ... program ...| call ............|... program ...| call | call |...
///                    ^ reading          ^ reading              no reading: less than k_gap_us since the last
///
/// A reading costs 0.4 microseconds and drives others' lines out of the cache, so calls that follow each other closely
/// share one; of growth over such a stretch goes to MPI what measured calls explain, and of the rest its share of the
/// time, as far as its calls can have taken that (growth/stretch.hpp). The first calls of every place have readings of
/// their own (growth/doubt.hpp). While nothing grows or shrinks, readings become rarer, down to a 64th; the first that
/// sees a change has them back at once. A call that turns out to be long although it had no reading has one at its end.
/// Makings of objects have a rule of their own (growth/makings.hpp).
///
/// The cheap reading (statm) tells shared memory and pages of files as one number. Only shared memory is MPI's, so
/// where that number has changed, a second one is read that takes 4 microseconds (status).
///
/// The cheap reading is of a file that is kept open; the second opens its own for a moment. Where the program has used
/// up its descriptors, memory counts as of the last reading. A limit of less than kernel::k_least_limit_to_keep, or a
/// program that has closed what it did not open, leaves a reading that opens its file: 2 to 5 microseconds.
///
/// Where threads of the program run that are in no call, growth inside a call is MPI's by the part of the page faults
/// that the calling thread had.
///
/// Any thread of the program may call, and our helper thread samples: numbers are tallies (tally.hpp), readings are one
/// thread's at a time. Where several threads call MPI, growth is the site's whose call ends first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "kernel/files/kept_file.hpp"
#include "kernel/proc_text.hpp"
#include "kernel/thread/faults.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/tables/growth/doubt.hpp"
#include "plugin/tables/growth/given.hpp"
#include "plugin/tables/growth/held.hpp"
#include "plugin/tables/growth/stretch.hpp"
#include "plugin/tables/open/look_share.hpp"
#include "plugin/tables/own_pages.hpp"
#include "record/record.hpp"
#include "sluice/budget.hpp"

namespace sluice::plugin {

class LentBuffers;
class Makings;

/// What else the kernel says with a reading, in bytes.
struct KernelSays {
    std::uint64_t high_water = 0;  ///< the most that the process has held since it began its program; 0: it is not told
    std::uint64_t segments = 0;    ///< shared memory, the program's and the MPI's
    std::uint64_t huge = 0;        ///< reserved huge pages
};

class MemoryWatch {
  public:
    /// `leases`: what Sluice holds of this process's memory; null if it holds none.
    explicit MemoryWatch(Budget const* leases = nullptr);
    MemoryWatch(MemoryWatch const&) = delete;
    MemoryWatch& operator=(MemoryWatch const&) = delete;

    /// A reading, and without what Sluice holds: the pages of its own mappings as of the last look, and its leases.
    /// What these grow by is not MPI's, and what they give back is not the program's.
    struct Reading {
        Resident all;
        Resident others;
    };
    Reading read() const noexcept;
    Reading read_with_peak(KernelSays& kernel) const noexcept;
    /// The same after a look at the pages of Sluice's own mappings.
    Reading read_now() noexcept {
        own_.look();
        return read();
    }
    /// Sluice's own mappings; the sampler looks at them.
    OwnPages& own() noexcept { return own_; }

    /// `gap`: ticks between readings that calls need not share. A file is kept open from here on. Before it no call has
    /// readings.
    void start(std::uint64_t gap) noexcept;
    /// Keeps no file open any more, as a child of fork() must not either. Memory can still be read.
    void let_go_of_files() noexcept { statm_.let_go(); }
    /// Buffers of the program whose pages may come in any call.
    void follow(LentBuffers& lent) noexcept { lent_ = &lent; }
    /// Before there are readings.
    void start_looks(Clock const& clock) noexcept { looks_.start(clock, k_looks_at_once_us); }
    /// Makings of objects that have no readings of their own.
    void follow(Makings& makings) noexcept { makings_ = &makings; }
    /// Before MPI_Init: all threads are the program's. What MPI_Init adds until the first look is not.
    void threads_before_init(std::uint64_t number) noexcept { not_the_programs_ = 1 - number; }
    /// Looks whether threads of the program run beside the one that calls.
    void look_at_threads() noexcept;
    /// Looks that found nothing because the process had no descriptor free.
    std::uint64_t looks_without_descriptor() const noexcept { return lacked_.load(std::memory_order_relaxed); }

    /// Whether a call that begins now should have readings of its own.
    bool is_due(std::uint64_t now) const noexcept { return now - look_at(last_ticks_) >= look_at(gap_); }
    /// Whether calls of the site should have them because it is not known what they take.
    bool is_in_doubt(record::Site const& site) const noexcept { return doubt_.is_of(site) || stretch_.reads_all(); }
    /// Whether the next call begins with a reading, whatever it has at its end: the gap behind a call with readings is
    /// measured, too, while memory changes.
    bool is_in_gap() const noexcept { return look_at(reads_gap_); }
    /// At the begin of such a call, at `now_us`. False where another thread is reading; otherwise `leave` must be told.
    bool enter(std::uint64_t now, std::uint64_t now_us) noexcept;
    /// Whether a call that took `elapsed` ticks has a reading at its end, had it one at its begin or not.
    bool is_long(std::uint64_t elapsed) const noexcept { return elapsed >= look_at(long_); }
    /// What a call changed, as far as readings tell: bytes that the MPI took, or gave back.
    struct Change {
        std::uint64_t taken = 0;
        std::uint64_t given_back = 0;
    };
    /// What a call frees: the site that made it, or null, and bytes of the application's memory that go with it.
    struct Freed {
        record::Site* maker = nullptr;
        std::uint64_t own = 0;
    };
    /// At the end of a call of `site` that took `elapsed` ticks and began at `start_us()`. `own_pages`: bytes of the
    /// call's own buffers that became resident in it.
    template <class StartUs>
    Change leave(std::uint64_t now, std::uint64_t elapsed, bool read_at_entry, std::uint64_t own_pages,
                 record::Site& site, StartUs const& start_us, Freed const& freed) noexcept {
        if (own_pages > 0) add(own_pages_, own_pages);
        if (read_at_entry) return read_at_exit(now, site, freed, start_us());
        stretch_.unread_call(elapsed, most_taken(site, now, elapsed));
        add(mpi_ticks_, elapsed);
        if (!is_long(elapsed)) [[likely]]
            return {};
        return {share_out(now, &site, elapsed, start_us()).value_or(0), 0};
    }

    /// Pages of the program's buffers that became resident inside MPI in a call that is over (a receive that was
    /// completed).
    void own_pages(std::uint64_t bytes) noexcept { add(own_pages_, bytes); }

    /// The same of buffers that were lent, when their owner gives them back: they may have come before the last
    /// reading.
    void late_pages(std::uint64_t bytes) noexcept {
        if (bytes > 0) add(late_pages_, bytes);
    }

    /// Whether the last reading gave the MPI so much that pages of the program's may be among it.
    bool gave_much() const noexcept { return given_.is_much(); }

    /// Whether memory was given back since the last question.
    bool take_shrunk() noexcept {
        return shrunk_.load(std::memory_order_relaxed) && shrunk_.exchange(false, std::memory_order_relaxed);
    }

    /// What belongs to whom, as of a reading by `read_with_peak` just before. `in_call_since_reading`: the rank is
    /// inside a call that began with the last reading, so what has grown since is MPI's, too, but for `own_pages` of
    /// the call's own buffer. Otherwise growth is shared out with the call of `open` that has lasted `open_ticks` so
    /// far; null: the rank is in none.
    record::Sample sample(Reading const& reading, std::uint64_t now, bool in_call_since_reading,
                          record::Site const* open, std::uint64_t open_ticks, std::uint64_t own_pages) const noexcept;

    /// Odd while a reading is written down, and another one after it: for what a sample is made of.
    std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
    /// A call's own buffer is not known any more: what came of it has been told by `leave`.
    void call_is_over() noexcept { version_.fetch_add(2, std::memory_order_acq_rel); }

    std::atomic<std::uint64_t> mpi_private{0};
    std::atomic<std::uint64_t> mpi_shared{0};

    /// Memory of Sluice: the pages of its own mappings (code, record) as of the last look, what it took at the start
    /// (tables, thread), and what its leases hold now.
    std::uint64_t sluice() const noexcept { return fixed() + leased(); }
    /// The same without the leases.
    std::uint64_t fixed() const noexcept { return own_.found().all() + taken_.load(std::memory_order_relaxed); }
    /// `bytes`: anonymous memory that the start took, without Sluice's own mappings and its leases.
    void took(std::uint64_t bytes) noexcept { taken_ = bytes; }

    /// Bytes of [from, from + bytes) whose pages are not resident; 0 for ranges below a page. Nothing where a part is
    /// not mapped.
    static std::optional<std::uint64_t> absent_where_mapped(void const* from, std::uint64_t bytes) noexcept;
    static std::uint64_t absent(void const* from, std::uint64_t bytes) noexcept {
        return absent_where_mapped(from, bytes).value_or(0);
    }

  private:
    /// What a stretch between two readings brought to whom.
    struct Growth {
        std::uint64_t own, mpi_private, mpi_shared;
    };
    Growth growth(Resident const& is, Resident const& before, std::uint64_t now) noexcept;
    std::uint64_t found_until(Resident const& reading) noexcept;
    void give(std::uint64_t private_bytes, record::Site* site, std::uint64_t of_site) noexcept;
    void ungive(std::uint64_t bytes, bool all_looked_at) noexcept;
    std::uint64_t most_in(std::uint64_t ticks) const noexcept;
    /// Bytes that a call of the site can have taken, if that is known, which has lasted `elapsed` ticks until now and
    /// had no reading at its begin. What short ones took says nothing of a call that had nearly all of the time since
    /// the last reading, but for what other calls had.
    std::optional<std::uint64_t> most_taken(record::Site const& site, std::uint64_t now,
                                            std::uint64_t elapsed) const noexcept {
        if (is_long(elapsed)) [[unlikely]] {
            std::uint64_t const stretch = now - look_at(last_ticks_);
            std::uint64_t const others = stretch - std::min(look_at(mpi_ticks_) + elapsed, stretch);
            if (elapsed / k_nearly_all >= others) return std::nullopt;
        }
        return Doubt::most_in_call(site);
    }
    void note_thread() noexcept;
    void begin_with(kernel::Faults const& faults) noexcept;
    kernel::Faults at_entry() const noexcept;
    double part_of_call() const noexcept;
    /// Bytes of the site's call; nothing where another thread is reading.
    std::optional<std::uint64_t> share_out(std::uint64_t now, record::Site* site, std::uint64_t elapsed,
                                           std::uint64_t start_us) noexcept;
    Change read_at_exit(std::uint64_t now, record::Site& site, Freed const& freed, std::uint64_t start_us) noexcept;
    double most_in_a_tick() const noexcept;
    std::uint64_t certain_of(std::uint64_t bytes, std::int64_t rest) const noexcept;
    void note_read(record::Site& site, std::uint64_t taken) noexcept;
    std::uint64_t leased() const noexcept { return leases_ != nullptr ? leases_->resident().count : 0; }
    Resident last() const noexcept {
        return {look_at(last_.private_bytes), look_at(last_.shared_bytes), look_at(last_.file_bytes)};
    }
    Reading without_own(Resident const& all) const noexcept;
    bool read_status(kernel::MemoryStatus& status) const noexcept;
    Resident last_known() const noexcept;
    bool lacks_descriptors() const noexcept;
    void keep(Reading const& reading, Resident const& before, std::uint64_t now) noexcept;
    void begin_change() noexcept { version_.fetch_add(1, std::memory_order_acq_rel); }

    kernel::KeptFile statm_{"/proc/thread-self/statm"};  // no program opens this one itself
    static constexpr std::uint64_t k_unknown = ~std::uint64_t{0};
    static constexpr std::uint64_t k_never = ~std::uint64_t{0};
    static constexpr std::uint64_t k_nearly_all = 32;  // times what is left
    static constexpr std::uint64_t k_part_of_looks = 10;
    static constexpr std::uint64_t k_looks_at_once_us = 5000;
    // Of the last readings. Threads that read at once may mix two; the next sample has them right again.
    mutable std::atomic<std::uint64_t> known_private_{0};
    mutable std::atomic<std::uint64_t> known_both_{k_unknown};
    mutable std::atomic<std::uint64_t> known_shared_{0};
    mutable std::atomic<std::uint64_t> lacked_{0};
    std::uint64_t page_;
    Budget const* leases_;
    OwnPages own_;
    std::atomic<std::uint64_t> taken_{0};
    std::uint64_t least_gap_ = 0;
    std::uint64_t gap_ = k_never;
    std::uint64_t long_ = k_never;
    std::mutex reading_;  // held while the following are written
    std::atomic<std::uint32_t> version_{0};
    Resident last_;               // without Sluice's
    std::uint64_t last_all_ = 0;  // with it
    std::uint64_t last_ticks_ = 0;
    std::atomic<bool> shrunk_{false};
    std::uint64_t mpi_ticks_ = 0;  // in calls since the last reading
    Stretch stretch_;
    bool reads_gap_ = false;
    std::uint64_t own_pages_ = 0, late_pages_ = 0;  // since then
    // The thread that entered the last call with a reading, and where others run the faults until then.
    std::atomic<bool> others_run_{false};
    std::atomic<bool> knows_faults_{false};
    std::uint64_t not_the_programs_ = 0;  // threads, and the one that calls
    bool knows_threads_ = false;
    std::uint32_t in_call_ = 0;
    kernel::Faults at_entry_;
    LentBuffers* lent_ = nullptr;
    Makings* makings_ = nullptr;
    Holders holders_;
    Doubt doubt_;
    std::uint64_t unlooked_ = 0;        // growth since the last look at lent buffers
    LookShare looks_{k_part_of_looks};  // at lent buffers
    Given given_;
};

}  // namespace sluice::plugin
