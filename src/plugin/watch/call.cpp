// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/call.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "plugin/binding/tally.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/objects/making.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

namespace {

// Calls from this long on are kept as events.
constexpr std::uint64_t k_long_call_us = 100;
// A buffer of blocks that is this many times as long as what it receives is not looked at.
constexpr std::uint64_t k_most_sparse = 4;

std::size_t bucket_of(std::uint64_t bytes) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(bytes)), record::k_sizes - 1);
}

}  // namespace

constinit thread_local Call::Account Call::t_account __attribute__((tls_model("initial-exec")));

Call::Call(Job& job, Watch& watch, Function function, void const* caller, Inside* outer) noexcept
    : inside_(outer), job_(&job), watch_(&watch), function_(function), is_nested_(outer != nullptr) {
    if (is_nested_) [[unlikely]] {
        site_ = watch.sites().of(function, caller);
        start_ = ticks();
        reading_ = false;
        return;  // the account is the outer call's
    }
    if (t_account.watch != nullptr) [[unlikely]]
        close(t_account, watch.clock().us_since_start(ticks()));
    site_ = watch.sites().of(function, caller);
    start_ = ticks();
    Reads const reads = k_reads_memory[static_cast<std::size_t>(function)];
    reading_ = watch.memory().is_due(start_) || reads == Reads::always ||
               watch.memory().is_in_doubt(watch.record().sites[site_]);
    if (reads == Reads::some) {
        reading_ = watch.begins_making(site_, start_);
    } else if (reading_ || watch.memory().is_in_gap()) [[unlikely]] {
        reading_ = watch.reads_at_entry(start_) && reading_;
    }
    if (watch.memory().take_shrunk()) [[unlikely]]
        watch.forget_pages();
    t_account.number = watch.entered(site_, watch.clock().us_since_start(start_), reading_);
    t_account.site = site_;
    t_account.reading = reading_;
    t_account.receiving = t_account.flying = false;
    t_account.watch = &watch;
}

Call::~Call() {
    if (t_account.watch != nullptr && !is_nested_) [[unlikely]]
        close(t_account, watch_->clock().us_since_start(ticks()));
}

/// The thread has left the call.
void Call::close(Account& account, std::uint64_t now_us) noexcept {
    Watch& watch = *account.watch;
    land(account);
    if (account.receiving) watch.has_received();
    watch.left(account.number, now_us, account.reading);
    account.watch = nullptr;
}

/// Its buffers are not busy any more.
void Call::land(Account& account) noexcept {
    if (!account.flying) [[likely]]
        return;
    account.watch->landed(account.site, account.leaves, account.leaves_at);
    account.watch->landed(account.site, account.comes, account.comes_at);
    if (account.unknown > 0) account.watch->landed(account.site, account.unknown);
    account.flying = false;
}

void Call::into(void* buffer, std::uint64_t span) noexcept {
    if (buffer != nullptr && buffer != MPI_IN_PLACE && !is_nested_) receives_into(buffer, span);
}

void Call::into(void* buffer, Room room) noexcept {
    if (buffer == nullptr || is_nested_ || room.span() > k_most_sparse * in_) return;
    receives_into(static_cast<char*>(buffer) + room.begin, room.span());
}

void Call::receives_into(void* buffer, std::uint64_t span) noexcept {
    buffer_ = buffer;
    span_ = span;
    ResidentBuffers& resident = watch_->resident_buffers();
    if (resident.knows(buffer, span)) [[likely]]
        return;
    not_looked_ = !watch_->may_look(span) || watch_->lent().has_without_look(buffer, span);
    if (not_looked_) [[unlikely]]
        return;
    std::uint64_t const asked_at = resident.generation();
    absent_ = watch_->absent(buffer, span);
    new_ = absent_;
    if (absent_ == 0)
        resident.add(buffer, span, asked_at);
    else
        t_account.receiving = watch_->receives_into(buffer, span, absent_);
}

/// A look-up in the table at most: this is no reason to ask the MPI for the members of a communicator.
void Call::awaits(int partner, MPI_Comm comm) noexcept {
    if (partner < 0) return;
    if (comm == MPI_COMM_WORLD) {
        partner_ = partner;
        return;
    }
    Known const known = watch_->communicators().find(comm);
    if (partner < known.size && known.ranks.is_regular()) partner_ = static_cast<int>(known.ranks.at(partner));
}

/// Of several requests it is not known which is the late one.
void Call::awaits_one_of(MPI_Request const* requests, int count) noexcept {
    if (count == 1 && requests != nullptr) partner_ = watch_->requests().awaited(*requests);
}

/// Buffers of a blocking call are in flight while it lasts; of one whose pages are not there, what is there and what
/// comes. Small ones are over before any sample is taken.
void Call::waits() noexcept {
    if (is_nested_) [[unlikely]]
        return;
    waits_ = true;
    if (partner_ >= 0 && !g_plugin.several_threads) {
        names_rank_ = true;
        put(watch_->record().head.awaited, static_cast<std::uint32_t>(partner_));
    }
    if (!is_long()) return;
    note_pages();
    t_account.leaves = leaves_;
    t_account.comes = absent() == 0 ? comes_ : FlyingRange{};
    t_account.unknown =
        absent() == 0 ? unknown() : unknown() - std::min(unknown(), in_) + coming() - std::min(absent(), coming());
    t_account.leaves_at = watch_->flies(site_, leaves_);
    t_account.comes_at = watch_->flies(site_, t_account.comes);
    if (t_account.unknown > 0) watch_->flies(site_, t_account.unknown);
    t_account.flying = true;
    stays_open_ = true;  // the peak of its site is known
}

/// An MPI over an adapter would have these registered.
void Call::note_pages() noexcept {
    for (FlyingRange const& range : {leaves_, comes_})
        if (range.bytes >= k_seen_in_flight) watch_->used_pages().add(range.from, range.span);
}

void Call::passes_on() noexcept {
    add(watch_->record().head.passed_on, 1);
}

void Call::serves(std::uint64_t exchanged) noexcept {
    record::RankHead& head = watch_->record().head;
    add(head.served_calls, 1);
    add(head.served_bytes, exchanged);
}

Arrival Call::arrives_later() noexcept {
    Arrival const later{site_, kept_busy(), buffer_, span_, absent_};
    land(t_account);
    watch_->flies(site_, later.bytes);
    if (t_account.receiving) watch_->has_received();
    waits_ = false;
    t_account.receiving = false;
    absent_ = 0;
    stays_open_ = true;
    return later;
}

/// A receive. A collective call takes part with its own bytes, and its buffers are busy from its start on.
bool Call::is_posted() const noexcept {
    return k_function_kinds[static_cast<std::size_t>(function_)] == record::Kind::receive;
}

void Call::starts(MPI_Request request) noexcept {
    opens(request, false);
}

void Call::persistent(MPI_Request request) noexcept {
    opens(request, true);
}

void Call::opens(MPI_Request request, bool persistent) noexcept {
    // A request of a nested call is mostly completed by a nested one, which no one sees.
    if (is_nested_ || !watch_->follows_requests()) return;
    if (is_long()) note_pages();
    OpenRequest open;
    open.bytes = kept_busy();
    open.leaves = leaves_;
    // What has come of a message is not known where its buffer was resident, and counts as nothing.
    bool const has_come = !is_posted() && absent() == 0;
    if (has_come) open.comes = comes_;
    open.unknown = has_come || out_ > 0 ? (leaves_.bytes + comes_.bytes > 0 ? 0 : out_ + (has_come ? in_ : 0)) : 0;
    open.out = out_;
    open.in = in_;
    open.destination = destination_;
    if (persistent) {
        moves_later_ = true;
        creates_ = record::Object::request;
    }
    open.site = site_;
    open.persistent = persistent;
    open.awaited = partner_;
    open.buffer = buffer_;
    open.span = span_;
    open.absent = absent_;
    absent_ = 0;
    stays_open_ = true;
    if (request != MPI_REQUEST_NULL) watch_->requests().add(request, open);
}

void Call::makes_unknown(MPI_Comm comm) noexcept {
    Communicators& communicators = watch_->communicators();
    if (comm != MPI_COMM_NULL)
        communicators.remove(comm, communicators.find(comm), watch_->clock().us_since_start(start_));
}

void Call::begins(MPI_Request const* requests, int count) noexcept {
    Begun const begun = watch_->requests().begin(requests, count);
    out_ = begun.out;
    in_ = begun.in;
    unplaced_ = begun.unplaced;
    stays_open_ = true;
}

void Call::creates(record::Object kind, std::uint64_t handle) noexcept {
    if (is_predefined(kind, handle)) return;
    creates_ = kind;
    watch_->made(kind, handle, site_);
}

void Call::destroys(record::Object kind, std::uint64_t handle) noexcept {
    destroys_ = kind;
    frees_.maker = watch_->freed(kind, handle);
}

void Call::makes_window(MPI_Win window, MPI_Comm comm) noexcept {
    watch_->windows().add(window, watch_->communicators().find(comm));
    add(watch_->record().head.windows_made, 1);
}

void Call::lends(void const* from, MPI_Aint bytes, std::uint64_t owner) noexcept {
    if (from != nullptr && bytes > 0) watch_->lends(owner, from, static_cast<std::uint64_t>(bytes));
}

void Call::owns(void const* pointer, MPI_Aint bytes, std::uint64_t window) noexcept {
    void const* const from = *static_cast<void* const*>(pointer);
    if (from == nullptr || bytes <= 0) return;
    auto const span = static_cast<std::uint64_t>(bytes);
    watch_->windows().keep_memory(window, {from, span});
    if (!watch_->may_look(span)) return;
    std::uint64_t const missing = watch_->absent(from, span);
    own_pages_ += span - std::min(span, missing);
    if (missing > 0) watch_->lent().lend(window, from, span, missing);
}

void Call::releases(std::uint64_t window) noexcept {
    watch_->gives_back(window);
    Windows::Allocated const memory = watch_->windows().memory_of(window);
    std::uint64_t const missing = watch_->may_look(memory.bytes) ? watch_->absent(memory.from, memory.bytes) : 0;
    frees_.own = memory.bytes - std::min(memory.bytes, missing);
}

void Call::gives_back(std::uint64_t owner) noexcept {
    watch_->gives_back(owner);
    watch_->lent().give_back_all(owner);
}

void Call::gives_back(std::uint64_t owner, void const* from) noexcept {
    watch_->gives_back(owner, from);
    watch_->lent().give_back(owner, from);
}

void Call::frees_window(std::uint64_t window) noexcept {
    watch_->lent().give_back_all(window);
    watch_->windows().remove(window);
    add(watch_->record().head.windows_freed, 1);
}

template <bool several>
void Call::write_down(std::uint64_t ns, std::uint64_t now_us) const noexcept {
    using Sums = Tally<several>;
    record::RankRecord& record = watch_->record();
    record::Site& site = record.sites[site_];
    if (look_at(site.calls) == 0) [[unlikely]]
        put(site.first_us, now_us);
    put(site.last_us, now_us);
    Sums::add(site.calls, 1);
    Sums::add(site.time_ns, ns);
    Sums::add(record.head.time_in_mpi_ns, ns);
    Sums::raise(site.longest_ns, ns);
    if (waits_) {
        std::uint64_t const waited = watch_->transfers().waiting(site_, ns, out_ + in_ + brought_);
        Sums::add(site.waiting_ns, waited);
        Sums::add(record.head.waiting_ns, waited);
    }
    if (out_ + in_ == 0 || moves_later_) return;
    if (watch_->is_other_buffer(site_, address_)) Sums::add(site.other_buffers, 1);
    if (one_buffer_) Sums::add(site.in_place, 1);
    if (new_ > 0) Sums::add(site.new_bytes, new_);
    Sums::add(site.bytes_out, out_);
    Sums::add(site.bytes_in, in_);
    Sums::add(site.sizes[bucket_of(std::max(out_, in_))], 1);
    if (!stays_open_) Sums::raise(site.in_flight_peak, kept_busy());
    if (unplaced_ > 0) [[unlikely]]
        Sums::add(site.unplaced_bytes, unplaced_);
    if (destination_ >= 0) watch_->sent_to(destination_, out_);
}

/// Memory of the MPI that the call took for an object, or gave back with one.
void Call::note_objects(MemoryWatch::Change const& change, std::uint64_t elapsed) const noexcept {
    auto& objects = watch_->record().head.objects;
    if (creates_ == record::Object::request) [[unlikely]]
        watch_->ends_making(creates_, site_, elapsed, reading_, change.taken);
    else if (creates_ != record::Object::none) [[unlikely]]
        take(objects[static_cast<std::size_t>(creates_)], change.taken,
             reading_ ? Measured::exactly : Measured::by_share);
    if (destroys_ != record::Object::none) [[unlikely]]
        give_back(objects[static_cast<std::size_t>(destroys_)], change.given_back);
}

int Call::end(int code) {
    Watch& watch = *watch_;
    if (is_nested_) [[unlikely]] {
        if (makes_) watch.communicators().add(made_, site_, 0, watch.clock().us_since_start(start_));
        return code;
    }
    record::Site& site = watch.record().sites[site_];
    std::uint64_t own = own_pages_;
    if (code != MPI_SUCCESS) [[unlikely]]
        out_ = in_ = unplaced_ = 0;
    if (absent_ > 0 && !watch.may_look(span_)) [[unlikely]] {
        watch.lent().lend_without_look(buffer_, span_, absent_);
    } else if (absent_ > 0) [[unlikely]] {
        std::uint64_t const asked_at = watch.resident_buffers().generation();
        std::uint64_t const still = watch.absent(buffer_, span_);
        std::uint64_t const come = absent_ - std::min(still, absent_);
        own += come;
        if (t_account.flying) watch.came_at(site_, std::min(come, coming()));
        if (still == 0) watch.resident_buffers().add(buffer_, span_, asked_at);
        if (still > 0 && comes_later_) watch.lent().lend(LentBuffers::k_late_data, buffer_, span_, still);
    }
    land(t_account);
    std::uint64_t now = ticks();
    bool const reads = reading_ || watch.memory().is_long(now - start_);
    if (reads) [[unlikely]] {
        watch.requests().find_own_pages();
        now = ticks();
    }
    std::uint64_t const elapsed = now - start_;
    std::uint64_t const now_us = watch.clock().us_since_start(now);
    std::uint64_t const ns = watch.clock().ns(elapsed);
    auto const start_us = [&] { return watch.clock().us_since_start(start_); };
    MemoryWatch::Change const change = watch.memory().leave(now, elapsed, reading_, own, site, start_us, frees_);
    if (reads) [[unlikely]]
        watch.has_read();
    if (t_account.receiving) [[unlikely]]
        watch.has_received();
    note_objects(change, elapsed);
    if (makes_) [[unlikely]]
        watch.communicators().add(made_, site_, change.taken, now_us);

    if (g_plugin.several_threads) [[unlikely]]
        write_down<true>(ns, now_us);
    else
        write_down<false>(ns, now_us);
    if (ns >= k_long_call_us * 1000) [[unlikely]]
        watch.keep_event(site_, start_us(), ns / 1000, out_ + in_);
    if (names_rank_) put(watch.record().head.awaited, record::k_no_rank);
    watch.left(t_account.number, now_us, reading_);
    t_account.watch = nullptr;
    return code;
}

}  // namespace sluice::plugin
