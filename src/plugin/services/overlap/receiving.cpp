// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/services/overlap/receiving.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "plugin/binding/tally.hpp"
#include "plugin/services/job.hpp"
#include "plugin/services/overlap/receive_ticket.hpp"
#include "plugin/services/overlap/whole_pages.hpp"
#include "plugin/services/substitution.hpp"
#include "plugin/watch/call.hpp"

namespace sluice::plugin {

namespace {

using Ns = std::chrono::nanoseconds;

// What the helper thread and a fault cost besides.
constexpr std::chrono::microseconds k_cost_of_waking{50};

/// Bytes of a type whose data have no gaps, also from one element to the next; 0 for others. The type is one that the
/// table knows, so MPI may be asked about it.
std::uint64_t dense_size_of(Watch& watch, MPI_Datatype type) noexcept {
    if (std::uint64_t const size = g_plugin.dense_types.size_of(type); size > 0) [[likely]]
        return size;
    auto const known = watch.datatypes().find(type);
    if (!known || known->size == 0 || known->size != known->extent) return 0;
    MPI_Count begin = 0;
    MPI_Count length = 0;
    if (MPI_Type_get_true_extent_x(type, &begin, &length) != MPI_SUCCESS) return 0;
    return begin == 0 && length == static_cast<MPI_Count>(known->size) ? known->size : 0;
}

/// These only look at what they are given, and write results outside MPI's own data.
constexpr std::array k_only_look{
    std::string_view("MPI_Comm_rank"),       std::string_view("MPI_Comm_size"),
    std::string_view("MPI_Comm_compare"),    std::string_view("MPI_Get_count"),
    std::string_view("MPI_Get_elements"),    std::string_view("MPI_Get_elements_x"),
    std::string_view("MPI_Type_size"),       std::string_view("MPI_Type_size_x"),
    std::string_view("MPI_Type_get_extent"), std::string_view("MPI_Test_cancelled"),
    std::string_view("MPI_Get_address"),     std::string_view("MPI_Get_version"),
    std::string_view("MPI_Query_thread"),    std::string_view("MPI_Is_thread_main"),
};

/// The end of the job does not wait for a rank that may be gone.
constexpr std::array k_end_all{std::string_view("MPI_Abort")};

/// From these on MPI may call a function of the program in any call.
constexpr std::array k_bring_callbacks{
    std::string_view("MPI_Comm_create_errhandler"),    std::string_view("MPI_Errhandler_create"),
    std::string_view("MPI_Win_create_errhandler"),     std::string_view("MPI_File_create_errhandler"),
    std::string_view("MPI_Session_create_errhandler"), std::string_view("MPI_Grequest_start"),
};

constexpr std::array k_set_handlers{std::string_view("MPI_Errhandler_set")};

/// From these on MPI may run an operation of the program in any call, until they are complete.
constexpr std::array k_reduce{
    std::string_view("MPI_Ireduce"),         std::string_view("MPI_Iallreduce"),
    std::string_view("MPI_Ireduce_scatter"), std::string_view("MPI_Ireduce_scatter_block"),
    std::string_view("MPI_Iscan"),           std::string_view("MPI_Iexscan"),
    std::string_view("MPI_Start"),           std::string_view("MPI_Startall"),
};

constexpr std::array k_make_operations{std::string_view("MPI_Op_create")};

template <std::size_t n>
bool is_one_of(std::string_view name, std::array<std::string_view, n> const& names) noexcept {
    if (name.ends_with("_c")) name.remove_suffix(2);
    for (std::string_view const one : names)
        if (one == name) return true;
    return false;
}

}  // namespace

bool goes_beside(Function function) noexcept {
    switch (function) {
        case Function::Send:
        case Function::Bsend:
        case Function::Ssend:
        case Function::Rsend:
        case Function::Isend:
        case Function::Ibsend:
        case Function::Issend:
        case Function::Irsend:
        case Function::Recv:
        case Function::Irecv:
        case Function::Mrecv:
        case Function::Imrecv:
        case Function::Sendrecv:
        case Function::Probe:
        case Function::Iprobe:
        case Function::Mprobe:
        case Function::Improbe:
        case Function::Wait:
        case Function::Waitall:
        case Function::Waitany:
        case Function::Waitsome:
        case Function::Test:
        case Function::Testall:
        case Function::Testany:
        case Function::Testsome:
            return true;
        default:
            return false;
    }
}

Receiving::Receiving(Job& job, kernel::GuardedPages& guards, pages::Interface const* library, Terms terms,
                     Counts counts)
    : job_(job),
      guards_(guards),
      library_(library),
      terms_(terms),
      counts_(counts),
      mates_(job.watch.file()),
      receives_(guards, *this) {}

void Receiving::before(Function function, TouchedBy const& touched) {
    if (function == Function::Request_free || function == Function::Buffer_attach ||
        function == Function::Buffer_attach_c)
        loses_requests_ = true;
    if (!any()) {
        reduces_ = false;
        return;
    }
    if (has_operations_ && is_one_of(k_function_names[static_cast<std::size_t>(function)], k_reduce)) reduces_ = true;
    if (!reduces_) receives_.go_on();
    TouchedMemory memory;
    touched.fill(memory);
    // What the program frees has no request any more that could be complete.
    if (memory.touches_anything() || function == Function::Request_free) receives_.finish(0, UINTPTR_MAX);
    for (TouchedRange const& range : memory.ranges()) {
        if (receives_.fill(range.from, range.from + range.bytes)) post_held();  // first: it may be matched at any time
        receives_.finish(range.from, range.from + range.bytes);
    }
    if (!goes_beside(function) || runs_callbacks_ || reduces_ || may_return_errors_) receives_.step_aside();
    receives_.collect();
}

void Receiving::sets_handler(MPI_Errhandler handler) noexcept {
    if (handler != MPI_ERRORS_ARE_FATAL) may_return_errors_ = true;
}

void Receiving::before_unwatched(char const* name) {
    if (is_one_of(name, k_bring_callbacks)) runs_callbacks_ = true;
    if (is_one_of(name, k_make_operations)) has_operations_ = true;
    if (is_one_of(name, k_set_handlers)) may_return_errors_ = true;
    if (!any() || is_one_of(name, k_only_look) || is_one_of(name, k_end_all)) return;
    receives_.step_aside();
    receives_.collect();
}

bool Receiving::turned_down(std::uint64_t& count, Call const& call) noexcept {
    add(count, 1);
    gains_.cannot(call.site());
    return false;
}

bool Receiving::may_defer(Call& call, void const* buffer, int count, MPI_Datatype type, int source,
                          MPI_Comm comm) noexcept {
    if (count <= 0 || buffer == nullptr || source == MPI_PROC_NULL) return false;
    MessageBytes sizes(call.watch().communicators(), call.watch().datatypes());
    if (sizes.bytes(count, type) < terms_.least) [[likely]]
        return false;
    int const size = call.watch().communicators().find(comm).size;  // 0: MPI is to refuse it, or it has two groups
    if (size == 0 || source >= size || (source < 0 && source != MPI_ANY_SOURCE)) return false;
    if (terms_.learns && source != MPI_ANY_SOURCE && is_mate(call.watch().communicators().world_rank(comm, source))) {
        add(counts_.same_node, 1);
        return false;
    }
    if (dense_size_of(call.watch(), type) == 0) {
        add(counts_.other_types, 1);
        return false;
    }
    if (has_windows()) {
        add(counts_.with_windows, 1);
        return false;
    }
    if (reduces_ || (has_operations_ && !has_no_active_request())) {
        add(counts_.callbacks, 1);
        return false;
    }
    if (!are_errors_fatal(comm)) {
        add(counts_.not_fatal, 1);
        return false;
    }
    if (terms_.learns && !gains_.is_worth_a_try(call.site())) {
        add(counts_.without_gain, 1);
        return false;
    }
    return true;
}

/// The helper thread asks, too, in its turn.
bool Receiving::is_mate(int world_rank) noexcept {
    if (!any()) return mates_.has(world_rank);
    InTurn const turn(receives_.turn());
    return mates_.has(world_rank);
}

/// A receive that fails after it has returned cannot return an error, so errors must end the job.
bool Receiving::are_errors_fatal(MPI_Comm comm) noexcept {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    auto const ask = [&] { return MPI_Comm_get_errhandler(comm, &handler); };
    if ((any() ? in_turn(ask) : ask()) != MPI_SUCCESS) return false;
    bool const fatal = handler == MPI_ERRORS_ARE_FATAL;
    auto const free = [&] { return MPI_Errhandler_free(&handler); };
    if (handler != MPI_ERRHANDLER_NULL) static_cast<void>(any() ? in_turn(free) : free());
    return fatal;
}

/// A process may write to a window of this one after any message that tells it so, and MPI does that in a test.
bool Receiving::has_windows() noexcept {
    record::RankHead const& head = job_.watch.record().head;
    return look_at(head.windows_made) != look_at(head.windows_freed);
}

bool Receiving::has_no_active_request() noexcept {
    return !loses_requests_ && job_.watch.requests().empty() && !job_.watch.requests().has_dropped() &&
           job_.owned.empty();
}

/// MPI reads or writes the buffer for another operation, in any call: there it would wait for a page that only calls of
/// MPI bring. A program may not use a buffer twice at once, and some do.
bool Receiving::is_used(void const* buffer, std::uint64_t room) noexcept {
    auto const from = reinterpret_cast<std::uintptr_t>(buffer);
    return job_.watch.requests().meets(from, from + room) || receives_.fill(from, from + room);
}

int Receiving::match(int source, int tag, MPI_Comm comm, Matched& matched, MPI_Request* meanwhile) {
    matched.comm = comm;
    if (!any() && meanwhile == nullptr) return MPI_Mprobe(source, tag, comm, &matched.message, &matched.status);
    int const code = until_done([&](int* found) {
        int sent = 0;
        if (meanwhile != nullptr && *meanwhile != MPI_REQUEST_NULL)
            if (int const tested = MPI_Test(meanwhile, &sent, MPI_STATUS_IGNORE); tested != MPI_SUCCESS) return tested;
        return MPI_Improbe(source, tag, comm, found, &matched.message, &matched.status);
    });
    matched.sends = meanwhile != nullptr && *meanwhile != MPI_REQUEST_NULL;
    return code;
}

int Receiving::land(Call& call, void* buffer, int count, MPI_Datatype type, Matched const& matched,
                    MPI_Status* status) {
    Matched left = matched;
    if (!defer(call, static_cast<std::byte*>(buffer), count, type, left))
        return receive_now(buffer, count, type, &left.message, status);
    write_status(status, matched.status);
    return MPI_SUCCESS;
}

int Receiving::receive_now(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    if (!any()) return MPI_Mrecv(buffer, count, type, message, status);
    MPI_Request request = MPI_REQUEST_NULL;
    int const code = in_turn([&] { return MPI_Imrecv(buffer, count, type, message, &request); });
    if (code != MPI_SUCCESS) return code;
    return until_done([&](int* done) { return MPI_Test(&request, done, status); });
}

bool Receiving::defer(Call& call, std::byte* buffer, int count, MPI_Datatype type, Matched& matched) {
    MPI_Count found = 0;
    MPI_Get_elements_x(&matched.status, MPI_BYTE, &found);
    auto const bytes = static_cast<std::uint64_t>(found);
    std::uint64_t const room = static_cast<std::uint64_t>(count) * dense_size_of(call.watch(), type);
    if (bytes > room) return false;  // MPI is to say so
    if (is_used(buffer, room)) return turned_down(counts_.other_data, call);
    DeferredReceive* const receive = receives_.place();
    if (receive == nullptr) return turned_down(counts_.no_place, call);
    receive->site = call.site();
    receive->source = call.watch().communicators().world_rank(matched.comm, matched.status.MPI_SOURCE);
    receive->bytes = bytes;
    std::uint64_t* why_not = nullptr;
    if (!take_pages(*receive, {buffer, bytes, room}, !matched.sends && has_no_active_request(), why_not))
        return turned_down(*why_not, call);
    std::byte* const into = receive->pages.aside + (buffer - receive->pages.pages);
    auto const start = [&] { return MPI_Imrecv(into, count, type, &matched.message, &receive->request); };
    if ((any() ? in_turn(start) : start()) != MPI_SUCCESS) {  // errors are fatal: MPI has not come back
        guards_.give_back(receive->pages);
        return false;
    }
    receive->arrival = call.arrives_later();
    receives_.add(*receive);
    add(counts_.deferred, 1);
    return true;
}

/// `receive` has its source and its bytes. It gets its pages, or `why_not` is the counter of the reason.
bool Receiving::take_pages(DeferredReceive& receive, Landing const& landing, bool none_active,
                           std::uint64_t*& why_not) noexcept {
    auto const refused = [&](std::uint64_t& why) {
        why_not = &why;
        return false;
    };
    if (receive.bytes < terms_.least) return refused(counts_.short_messages);
    if (terms_.learns && mates_.has(receive.source)) return refused(counts_.same_node);
    auto pages = pages_of(landing, library_, false);
    // Other data of the program on the pages wait with those of the message: its only thread would have waited in MPI.
    if (!pages && none_active && !job_.threads.are_several()) pages = pages_of(landing, library_, true);
    if (!pages) return refused(counts_.other_data);
    if (end_with_thread(*pages)) return refused(counts_.refused);
    auto const begun = DeferredReceives::Clock::now();
    auto const aside = guards_.take_aside(pages->begin, pages->bytes);
    if (!aside) return refused(counts_.refused);
    receive.moving_pages = DeferredReceives::Clock::now() - begun;
    receive.pages = *aside;
    return true;
}

bool Receiving::hold(Call& call, void* buffer, int count, MPI_Datatype type, Envelope const& envelope,
                     MPI_Request* request) noexcept {
    if (request == nullptr || runs_callbacks_ || may_return_errors_) return false;
    if (!may_defer(call, buffer, count, type, envelope.source, envelope.comm)) return false;
    std::uint64_t const room = static_cast<std::uint64_t>(count) * dense_size_of(call.watch(), type);
    if (auto const pages = pages_of({static_cast<std::byte*>(buffer), room, room}, library_, false);
        !pages || end_with_thread(*pages) || is_used(buffer, room)) {
        add(counts_.other_data, 1);
        gains_.cannot(call.site());
        return false;
    }
    DeferredReceive* const receive = receives_.free_place();
    if (receive == nullptr) {
        add(counts_.no_place, 1);
        return false;
    }
    auto const make = [&] { return make_ticket(*receive); };
    if ((any() ? in_turn(make) : make()) != MPI_SUCCESS) return false;
    *request = receive->ticket;
    receive->site = call.site();
    receive->envelope = envelope;
    receive->buffer = static_cast<std::byte*>(buffer);
    receive->count = count;
    receive->type = type;
    receive->room = room;
    receives_.hold(*receive);
    return true;
}

/// On any thread, so what is counted is counted later.
bool Receiving::takes_aside(DeferredReceive& receive) noexcept {
    receive.source = job_.watch.communicators().world_rank(receive.envelope.comm, receive.status.MPI_SOURCE);
    return take_pages(receive, {receive.buffer, receive.bytes, receive.room}, false, receive.why_in_place);
}

void Receiving::post_held() {
    InTurn const turn(receives_.turn());
    receives_.post_held();
}

void Receiving::landed(DeferredReceive const& receive) noexcept {
    if (receive.pages.bytes == 0) {
        add(receive.why_in_place != nullptr ? *receive.why_in_place : counts_.posted, 1);
        if (receive.why_in_place != nullptr) gains_.cannot(receive.site);
        return;
    }
    if (receive.order == 0)
        job_.watch.arrived(receive.arrival);
    else
        add(receive.returned.load(std::memory_order_relaxed) ? counts_.deferred : counts_.background, 1);
    auto const needed_at = receive.needed.load(std::memory_order_relaxed);
    auto const needed =
        needed_at == 0
            ? receive.landed
            : std::min(receive.landed, DeferredReceive::Clock::time_point(DeferredReceive::Clock::duration(needed_at)));
    auto const since = std::min(needed, receive.since + receive.waited);
    record::Site& site = job_.watch.record().sites[receive.site];
    auto const count = [](std::uint64_t& sum, DeferredReceive::Clock::duration time) {
        add(sum, static_cast<std::uint64_t>(Ns(time).count()));
    };
    add(site.deferred, 1);
    count(site.hidden_ns, hidden_.add(since, needed));
    count(site.left_ns, left_.add(needed, receive.landed));
    count(site.moving_ns, receive.moving_pages);
    gains_.learn(receive.site, needed - since, receive.moving_pages + k_cost_of_waking);
}

}  // namespace sluice::plugin
