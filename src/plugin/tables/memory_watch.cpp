// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/memory_watch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"
#include "plugin/binding/clock.hpp"
#include "plugin/tables/growth/makings.hpp"
#include "plugin/tables/open/lent_buffers.hpp"

namespace sluice::plugin {

namespace {

// While memory does not change, the interval between readings at the begin of calls grows by this factor: one that
// finds cold caches costs 5 to 10 microseconds, as much as a message of 16 KiB within a node.
constexpr std::uint64_t k_rarest = 64;
// A call that lasts so many least intervals has a reading at its end, however rare readings have become.
constexpr std::uint64_t k_long = 8;
// What a call can make resident in k_gap_us at most: no memory is cleared faster than 40 GB/s.
constexpr double k_most_in_gap = 8 << 20;
// The gap behind a call is measured if memory changed in one of the last two readings.
constexpr std::uint64_t k_changes_lately = 2;
// So many least intervals lie at least between two times that all of some calls are read. Where each finds cold caches,
// this takes 1 % of the time.
constexpr std::uint64_t k_proofs = 256;

std::uint64_t above(std::uint64_t now, std::uint64_t before) noexcept {
    return now > before ? now - before : 0;
}

void take_back(std::atomic<std::uint64_t>& from, std::uint64_t bytes) noexcept {
    std::uint64_t const held = from.load(std::memory_order_relaxed);
    from.store(above(held, bytes), std::memory_order_relaxed);
}

/// What was summed up until now; the sum begins again, and nothing that is added meanwhile is lost.
std::uint64_t take(std::uint64_t& sum) noexcept {
    return look_at(sum) == 0 ? 0 : std::atomic_ref(sum).exchange(0, std::memory_order_relaxed);
}

std::uint64_t part(std::uint64_t bytes, double share) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
}

/// A call of MPI that goes well leaves errno as it was.
class ErrnoKept {
  public:
    ErrnoKept() { errno = 0; }
    ErrnoKept(ErrnoKept const&) = delete;
    ErrnoKept& operator=(ErrnoKept const&) = delete;
    ~ErrnoKept() { errno = before_; }

  private:
    int before_ = errno;
};

std::uint32_t kib(std::uint64_t bytes) noexcept {
    return static_cast<std::uint32_t>(bytes / 1024);
}

}  // namespace

MemoryWatch::MemoryWatch(Budget const* leases)
    : page_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))), leases_(leases) {}

MemoryWatch::Reading MemoryWatch::read() const noexcept {
    ErrnoKept const errno_of_program;
    std::array<char, 128> room;
    auto const statm = kernel::statm_in(statm_.read(room));
    if (!statm) return without_own(last_known());
    std::uint64_t const both = statm->shared * page_;
    if (kernel::MemoryStatus status; known_both_.load(std::memory_order_relaxed) != both && read_status(status))
        known_both_.store(both, std::memory_order_relaxed);
    std::uint64_t const shared = std::min(known_shared_.load(std::memory_order_relaxed), both);
    Resident const is{above(statm->resident, statm->shared) * page_, shared, both - shared};
    known_private_.store(is.private_bytes, std::memory_order_relaxed);
    return without_own(is);
}

/// Of a look that found nothing to read.
Resident MemoryWatch::last_known() const noexcept {
    lacks_descriptors();
    std::uint64_t const both = known_both_.load(std::memory_order_relaxed);
    if (both == k_unknown) return {};
    std::uint64_t const shared = std::min(known_shared_.load(std::memory_order_relaxed), both);
    return {known_private_.load(std::memory_order_relaxed), shared, both - shared};
}

/// Whether that is why a file could not be read.
bool MemoryWatch::lacks_descriptors() const noexcept {
    bool const lacks = errno == EMFILE || errno == ENFILE;
    if (lacks) lacked_.fetch_add(1, std::memory_order_relaxed);
    return lacks;
}

/// False if no descriptor was free: then nothing is known anew. Where the kernel does not tell, `status` stays as it
/// is, and all that is not private counts as shared memory.
bool MemoryWatch::read_status(kernel::MemoryStatus& status) const noexcept {
    ErrnoKept const errno_of_program;
    std::array<char, 512> room;
    std::string_view const text = kernel::read_lines("/proc/self/status", kernel::k_lines_of_memory, room);
    if (text.empty() && lacks_descriptors()) return false;
    auto const told = kernel::memory_status_in(text);
    known_shared_.store(told ? told->shared : k_unknown, std::memory_order_relaxed);
    if (!told) return true;
    known_private_.store(told->anonymous, std::memory_order_relaxed);
    known_both_.store(told->shared + told->files, std::memory_order_relaxed);
    status = *told;
    return true;
}

/// The same numbers as those of statm.
MemoryWatch::Reading MemoryWatch::read_with_peak(KernelSays& kernel) const noexcept {
    kernel::MemoryStatus status;
    read_status(status);
    kernel.high_water = status.high_water;
    kernel.huge = status.huge;
    Reading const reading =
        status.high_water == 0 ? read() : without_own({status.anonymous, status.shared, status.files});
    kernel.segments = reading.others.shared_bytes;
    return reading;
}

MemoryWatch::Reading MemoryWatch::without_own(Resident const& all) const noexcept {
    Resident const own = own_.found();
    return {all,
            {above(all.private_bytes, own.private_bytes + leased()), above(all.shared_bytes, own.shared_bytes),
             above(all.file_bytes, own.file_bytes)}};
}

void MemoryWatch::start(std::uint64_t gap) noexcept {
    // The sampler has begun already.
    put(least_gap_, gap);
    put(gap_, gap);
    put(long_, gap);
    statm_.keep();
    Reading const is = read();
    put(last_.private_bytes, is.others.private_bytes);
    put(last_.shared_bytes, is.others.shared_bytes);
    put(last_.file_bytes, is.others.file_bytes);
    last_all_ = is.all.all();
}

/// The end of a reading.
void MemoryWatch::keep(Reading const& reading, Resident const& before, std::uint64_t now) noexcept {
    Resident const& is = reading.others;
    if (reading.all.all() < last_all_) shrunk_.store(true, std::memory_order_relaxed);
    if (is != before)
        put(gap_, least_gap_);
    else if (now - last_ticks_ >= gap_)
        put(gap_, std::min(2 * gap_, k_rarest * least_gap_));
    put(long_, std::min(gap_, k_long * least_gap_));
    put(last_.private_bytes, is.private_bytes);
    put(last_.shared_bytes, is.shared_bytes);
    put(last_.file_bytes, is.file_bytes);
    put(last_ticks_, now);
    put(reads_gap_, false);
    stretch_.restart();
    last_all_ = reading.all.all();
    version_.fetch_add(1, std::memory_order_release);
}

bool MemoryWatch::enter(std::uint64_t now, std::uint64_t now_us) noexcept {
    return look_at(gap_) != k_never && share_out(now, nullptr, 0, now_us).has_value();
}

/// Bytes of lent buffers that have come until the reading. Other ranks and threads fill them at any time: what may have
/// come between it and the look is kept for the next reading.
std::uint64_t MemoryWatch::found_until(Resident const& reading) noexcept {
    std::uint64_t const found = lent_->find();
    if (found == 0) return 0;
    Resident const now = read().others;
    std::uint64_t const grown =
        above(now.private_bytes + now.shared_bytes, reading.private_bytes + reading.shared_bytes);
    std::uint64_t const later = std::min(found, grown);
    if (later > 0) add(own_pages_, later);
    return found - later;
}

/// Pages of the program's buffers are private ones, or of shared memory. Such of lent buffers that came before, when no
/// look was due, have been given to the MPI.
MemoryWatch::Growth MemoryWatch::growth(Resident const& is, Resident const& before, std::uint64_t now) noexcept {
    std::uint64_t const of_private = above(is.private_bytes, before.private_bytes);
    std::uint64_t const of_shared = above(is.shared_bytes, before.shared_bytes);
    given_.begins();
    std::uint64_t const late = take(late_pages_);
    std::uint64_t own = take(own_pages_) + late;
    unlooked_ += of_private + of_shared;
    bool const looks = lent_ != nullptr && unlooked_ >= k_growth && looks_.allows(now);
    if (looks) {
        LookShare::Look const look(looks_);
        own += found_until(is);
        unlooked_ = 0;
    }
    std::uint64_t const own_private = std::min(own, of_private);
    std::uint64_t const own_shared = std::min(own - own_private, of_shared);
    if (looks || late > 0) ungive(own - own_private - own_shared, looks);
    return {own_private + own_shared, of_private - own_private, of_shared - own_shared};
}

/// `site`: that the most of it is counted for.
void MemoryWatch::give(std::uint64_t private_bytes, record::Site* site, std::uint64_t of_site) noexcept {
    mpi_private += private_bytes;
    given_.add(private_bytes, site, of_site);
}

/// Pages that are the program's: the MPI was given them, or they wait for a proof that they are the MPI's.
void MemoryWatch::ungive(std::uint64_t bytes, bool all_looked_at) noexcept {
    stretch_.are_the_programs(bytes);
    take_back(mpi_private, given_.take_back(bytes, all_looked_at));
}

double MemoryWatch::most_in_a_tick() const noexcept {
    std::uint64_t const gap = look_at(least_gap_);
    return k_most_in_gap / static_cast<double>(std::max<std::uint64_t>(gap, 1));
}

std::uint64_t MemoryWatch::most_in(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * most_in_a_tick());
}

void MemoryWatch::begin_with(kernel::Faults const& faults) noexcept {
    put(at_entry_.of_thread, faults.of_thread);
    put(at_entry_.of_process, faults.of_process);
    knows_faults_.store(true, std::memory_order_release);
}

/// A thread may have begun after the call that waits for it: its faults count from here on.
void MemoryWatch::look_at_threads() noexcept {
    std::uint64_t const all = kernel::count_threads();
    if (!knows_threads_) not_the_programs_ += all;
    knows_threads_ = true;
    bool const run = all > not_the_programs_;
    bool const ran = others_run_.exchange(run, std::memory_order_relaxed);
    if (!run || ran) return;
    std::uint32_t const thread = look_at(in_call_);
    if (auto const now = thread != 0 ? kernel::faults_of(static_cast<pid_t>(thread)) : std::nullopt) begin_with(*now);
}

void MemoryWatch::note_thread() noexcept {
    static thread_local pid_t const caller = gettid();
    put(in_call_, static_cast<std::uint32_t>(caller));
    if (others_run_.load(std::memory_order_relaxed))
        begin_with(kernel::faults_of_caller());
    else
        knows_faults_.store(false, std::memory_order_relaxed);
}

kernel::Faults MemoryWatch::at_entry() const noexcept {
    return {look_at(at_entry_.of_thread), look_at(at_entry_.of_process)};
}

/// Of what has grown since the call began.
double MemoryWatch::part_of_call() const noexcept {
    if (!knows_faults_.load(std::memory_order_acquire)) return 1;
    auto const now = kernel::faults_of(static_cast<pid_t>(look_at(in_call_)));
    return now ? now->part_since(at_entry()) : 1;
}

/// Of what a stretch brought that ended with a long call: what cannot have come in the rest of the time. Where threads
/// of the program run beside the call, that is not known.
std::uint64_t MemoryWatch::certain_of(std::uint64_t bytes, std::int64_t rest) const noexcept {
    if (others_run_.load(std::memory_order_relaxed)) return 0;
    return above(bytes, most_in(static_cast<std::uint64_t>(std::max<std::int64_t>(rest, 0))));
}

/// A call of the site had readings at both ends. What the first one of all takes is there for the others. Makings take
/// memory for many objects at once, so a few of them say nothing of the others.
void MemoryWatch::note_read(record::Site& site, std::uint64_t taken) noexcept {
    bool const is_first = look_at(site.calls) == 0;
    // Of a stretch the makings have had their part already.
    bool const makes = makings_ != nullptr && makings_->is_measuring();
    stretch_.read_call(makes ? 0 : taken, !is_first);
    if (!is_first && !makes) doubt_.read(site, taken);
}

/// A reading after a stretch in which the program ran and calls that had no readings of their own. The last of them, of
/// `site` if any, took `elapsed` of it.
std::optional<std::uint64_t> MemoryWatch::share_out(std::uint64_t now, record::Site* site, std::uint64_t elapsed,
                                                    std::uint64_t start_us) noexcept {
    std::unique_lock const lock(reading_, std::try_to_lock);
    if (!lock) return std::nullopt;
    Reading const reading = read();
    Resident const& is = reading.others;
    Resident const before = last();
    std::uint64_t const most = is.private_bytes + is.shared_bytes;
    begin_change();
    std::uint64_t const in_calls = take(mpi_ticks_);
    Growth const grown = growth(is, before, now);
    Makings::Part made;
    if (makings_ != nullptr) {
        makings_->grew_outside(grown.mpi_private);
        made = makings_->share_out(grown.mpi_private, most_in_a_tick(), most, start_us);
    }
    std::uint64_t const others = grown.mpi_private - made.bytes;
    auto const stretch = static_cast<std::int64_t>(now - last_ticks_ - made.ticks);
    std::uint64_t const certain =
        site != nullptr ? certain_of(others, stretch - static_cast<std::int64_t>(elapsed)) : 0;
    Stretch::Growth const shared_out{others, stretch, above(in_calls, made.ticks),
                                     above(stretch_.unknown(), made.ticks)};
    std::uint64_t const of_mpi = std::max(certain, stretch_.part_of_mpi(shared_out));
    stretch_.wait_for_proof(shared_out, now, k_proofs * least_gap_);
    std::uint64_t const by_time =
        site != nullptr ? std::min(of_mpi, part(others, Stretch::share_of(elapsed, stretch))) : 0;
    std::uint64_t const in_doubt = site != nullptr ? doubt_.allowed(*site, above(by_time, certain)) : 0;
    std::uint64_t const proven = site == nullptr ? stretch_.begins(others) : 0;
    give(made.bytes + of_mpi + proven, site, certain + in_doubt);
    // Shared memory that appears around calls is that of MPI's segments, as much as calls can have touched.
    std::uint64_t const shared = std::min(grown.mpi_shared, most_in(in_calls));
    mpi_shared += shared;
    std::uint64_t taken = 0;
    if (site != nullptr) {
        Taken const bytes{in_doubt, part(shared, Stretch::share_of(elapsed, stretch))};
        take(*site, {certain, 0}, most, start_us, Measured::exactly);
        take(*site, bytes, most, start_us, Measured::by_share);
        taken = certain + bytes.all();
        if (taken > 0) holders_.took(*site);
    } else {
        note_thread();
    }
    keep(reading, before, now);
    return taken;
}

MemoryWatch::Change MemoryWatch::read_at_exit(std::uint64_t now, record::Site& site, Freed const& freed,
                                              std::uint64_t start_us) noexcept {
    std::lock_guard const lock(reading_);
    Reading const reading = read();
    Resident const& is = reading.others;
    Resident const before = last();
    begin_change();
    Growth grown = growth(is, before, now);
    if (knows_faults_.load(std::memory_order_acquire) && grown.mpi_private >= k_growth &&
        static_cast<pid_t>(look_at(in_call_)) == gettid())
        grown.mpi_private = part(grown.mpi_private, kernel::faults_of_caller().part_since(at_entry()));
    take(mpi_ticks_);
    Taken const taken{grown.mpi_private, grown.mpi_shared};
    Taken back{above(before.private_bytes, is.private_bytes), above(before.shared_bytes, is.shared_bytes)};
    std::uint64_t const own_shared = std::min(freed.own, back.shared_bytes);
    back.shared_bytes -= own_shared;
    back.private_bytes -= std::min(freed.own - own_shared, back.private_bytes);
    if (is != before) {
        give(taken.private_bytes, &site, taken.private_bytes);
        mpi_shared += taken.shared_bytes;
        // What a call gives back, MPI had.
        take_back(mpi_private, back.private_bytes);
        take_back(mpi_shared, back.shared_bytes);
        if (back.all() > 0) holders_.give_back(freed.maker, site, back);
        add(site.grown_own, grown.own);
        take(site, taken, is.private_bytes + is.shared_bytes, start_us, Measured::exactly);
        if (taken.all() > 0) holders_.took(site);
    }
    note_read(site, taken.all());
    keep(reading, before, now);
    put(reads_gap_, gap_ <= k_changes_lately * least_gap_);
    return {taken.all(), back.all()};
}

record::Sample MemoryWatch::sample(Reading const& reading, std::uint64_t now, bool in_call_since_reading,
                                   record::Site const* open, std::uint64_t open_ticks,
                                   std::uint64_t own_pages) const noexcept {
    Resident const& is = reading.others;
    Resident const before = last();
    std::uint64_t mine = mpi_private.load(std::memory_order_relaxed);
    std::uint64_t segments = mpi_shared.load(std::memory_order_relaxed);
    std::uint64_t const of_private = above(is.private_bytes, before.private_bytes);
    std::uint64_t const own = look_at(own_pages_) + look_at(late_pages_) + own_pages;
    Makings::Part made;
    if (makings_ != nullptr && !in_call_since_reading)
        made = makings_->part_of(above(of_private, own), most_in_a_tick());
    std::uint64_t const others = above(of_private, own) - made.bytes;
    mine += made.bytes;
    if (in_call_since_reading) {
        mine += part(others, part_of_call());
    } else {
        auto const of_open = open != nullptr ? most_taken(*open, now, open_ticks) : std::nullopt;
        mine += stretch_.part_of_mpi({others, static_cast<std::int64_t>(now - look_at(last_ticks_) - made.ticks),
                                      above(look_at(mpi_ticks_) + open_ticks, made.ticks),
                                      above(stretch_.unknown() + (of_open ? 0 : open_ticks), made.ticks),
                                      of_open.value_or(0)});
    }
    std::uint64_t const all_shared = above(is.shared_bytes, before.shared_bytes);
    std::uint64_t const of_shared = above(all_shared, above(own, of_private));
    mine = above(mine, std::min(above(own, of_private + all_shared), given_.bytes()));
    segments += in_call_since_reading ? of_shared : std::min(of_shared, most_in(look_at(mpi_ticks_) + open_ticks));
    record::Sample sample;
    sample.resident = kib(reading.all.all());
    sample.mpi_private = std::min(kib(mine), kib(reading.all.private_bytes));
    sample.mpi_shared = std::min(kib(segments), kib(is.shared_bytes));
    sample.files = kib(is.file_bytes);
    sample.sluice = std::min(kib(sluice()), sample.resident - sample.mpi_private - sample.mpi_shared - sample.files);
    return sample;
}

std::optional<std::uint64_t> MemoryWatch::absent_where_mapped(void const* from, std::uint64_t bytes) noexcept {
    static auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    auto const begin = (reinterpret_cast<std::uint64_t>(from) + page - 1) / page * page;
    auto const end = (reinterpret_cast<std::uint64_t>(from) + bytes) / page * page;
    std::uint64_t missing = 0;
    std::array<unsigned char, 1024> in_memory;
    for (std::uint64_t at = begin; at < end; at += in_memory.size() * page) {
        std::uint64_t const pages = std::min<std::uint64_t>((end - at) / page, in_memory.size());
        if (mincore(reinterpret_cast<void*>(at), pages * page, in_memory.data()) != 0) return std::nullopt;
        for (std::uint64_t i = 0; i < pages; ++i)
            missing += (in_memory[i] & 1U) == 0 ? page : 0;
    }
    return missing;
}

}  // namespace sluice::plugin
