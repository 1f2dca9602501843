// SPDX-License-Identifier: BSD-3-Clause
// The ends of a job: MPI_Finalize, MPI_Abort, and a program that ends without either.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "kernel/job/once_a_node.hpp"
#include "plugin/binding/clock.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/binding/told_end.hpp"
#include "plugin/job/end/abrupt_end.hpp"
#include "plugin/job/end/ending.hpp"
#include "plugin/job/end/fatal_error.hpp"
#include "plugin/job/end/finalize.hpp"
#include "plugin/job/end/last_words.hpp"
#include "plugin/job/end/local_report.hpp"
#include "plugin/job/end/unwatched.hpp"
#include "plugin/job/rank_head.hpp"
#include "plugin/job/startup_pages.hpp"
#include "plugin/services/job.hpp"
#include "plugin/wrappers/around.hpp"

namespace sluice::plugin {

namespace {

/// The last rank that ends in order removes a file that no setting asked for.
void leave_node(record::RecordFile& file, std::string const& report) {
    if (!file.shares_node()) return;
    std::uint32_t const ended = std::atomic_ref(file.node().ended).fetch_add(1) + 1;
    if (file.folder() != report && ended == std::atomic_ref(file.node().arrived).load()) file.remove();
}

void end_state(Watch& watch, record::State state) {
    write_end(watch.record().head, state, watch.clock().us_since_start(ticks()));
}

/// Nothing is watched or served from here on. Null if nothing was.
Job* close_the_gate() {
    g_plugin.watched = nullptr;
    return g_plugin.served.exchange(nullptr);
}

/// The job of this process: a child of fork() has a copy of its parent's.
Job* own_job() noexcept {
    return g_plugin.job != nullptr && g_plugin.job->process == getpid() ? g_plugin.job : nullptr;
}

/// MPI tells at any time, and the library stays loaded since it was located.
bool was_finalized() noexcept {
    int flag = 0;
    return g_plugin.libmpi.PMPI_Finalized(&flag) == MPI_SUCCESS && flag != 0;
}

/// The first call of a rank counts: layers of MPI call one another, and a handler may call MPI_Abort again.
void note_abort(report::How how, int code) noexcept {
    Job* const job = own_job();
    if (job == nullptr || !job->started || job->watch.record().head.state == record::State::ended) return;
    if (job->aborted.exchange(true)) return;
    job->watch.record().head.abort_code = code;
    job->watch.record().head.aborted_by_mpi = how == report::How::failed ? 1 : 0;
    end_state(job->watch, record::State::aborted);
    if (job->reported || !job->is_watched) return;
    tell_end(job->watch.file(), static_cast<std::uint32_t>(job->rank), how, code);
}

/// What grew then counts as grown later.
void count_looks_without_descriptor(Job& job) {
    if (std::uint64_t const looks = job.watch.memory().looks_without_descriptor(); looks > 0)
        add(job.counter("samples", "looks at memory without a free descriptor"), looks);
}

/// They may be busy twice, and count twice.
void count_ranges_alone(Job& job) {
    if (std::uint64_t const ranges = job.watch.flights().alone(); ranges > 0)
        add(job.counter("buffers in flight", "buffers not compared with others, because too many were"), ranges);
}

/// After the MPI's own end, which no rank leaves before all have entered it.
int all_has_been_said(int code) {
    kernel::forget_what_was_said();
    return code;
}

/// The lines to print of a job whose ranks are not all on this node, or do not all take part.
std::string report(Job& job, record::RankRecord const& record) {
    if (job.all) return report_at_end(job.all.get(), record, job.settings);
    if (!job.speaks_for_strangers || job.settings.watch != Switch::on) return {};
    return "no report was gathered, because the ranks do not know whether all run under sluice\n";
}

/// MPI_Finalize begins here: services that need no other rank end before the MPI does.
void begin_end(Job& job) {
    // Services wait for the other ranks, and a rank that is late may find out for whom it waits.
    job.watch.record().head.state = record::State::finalizing;
    job.services.stop_alone(job);
}

/// All that needs the other ranks and MPI. Ending::exit: MPI cannot be used any more.
void end_together(Job& job, Ending ending) {
    close_the_gate();
    job.ended = true;
    if (ending == Ending::finalize) begin_end(job);  // MPI_Finalize may have been called past the wrappers
    job.services.stop(job, ending);
    job.memory.leave_ledger();
    job.helper_thread.reset();
    end_state(job.watch, record::State::ended);  // as the report has it
    job.watch.memory().let_go_of_files();
    count_looks_without_descriptor(job);
    count_ranges_alone(job);
    bool const on_one_node = is_on_one_node(job);
    if (!on_one_node && ending == Ending::finalize) {
        job.lines = report(job, job.watch.record());
        job.reported = true;
    }
    job.makes_report = on_one_node && job.rank == 0;
    if (ending == Ending::finalize) job.all = mpi::Communicator();
    job.watch.record().head.state = record::State::finalizing;
    if (on_one_node) note_written(job.watch.file().node());
    give_back_startup_pages();  // the end of the services needed other code than what follows
}

/// MPI has ended on this rank.
void after_finalize(Job& job) {
    g_plugin.declaration.abort = nullptr;
    job.watch.record().head.state = record::State::ended;
    if (job.makes_report) job.lines = report_of_node(job);
    if (!job.lines.empty()) keep_last_words(job.lines, job.watch.file());
    leave_node(job.watch.file(), job.settings.report);
}

/// Into a duplicate of MPI_COMM_SELF: it is not.
int attribute_is_copied(MPI_Comm, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return MPI_SUCCESS;
}

int attribute_is_deleted(MPI_Comm, int, void*, void*) {
    Job* const job = own_job();
    if (job == nullptr || job->ended || !job->started) return MPI_SUCCESS;
    Inside const inside(is_inside() ? t_inside : nullptr);
    end_together(*job, Ending::finalize);
    return MPI_SUCCESS;
}

/// A program that ends without MPI_Finalize: nothing can be gathered any more, but what was written stays.
[[gnu::destructor]] void note_exit() {
    if (g_plugin.job == nullptr) note_unwatched();
    Job* const job = own_job();
    if (job == nullptr || !job->started) return;
    // MPI_Finalize may have been called past the wrappers: through a handle of dlopen.
    bool const finalized = !job->aborted && !job->is_in_finalize && was_finalized();
    if (!job->ended && finalized) end_together(*job, Ending::exit);
    if (job->ended) {
        if (job->watch.record().head.state != record::State::finalizing) return;
        if (finalized)
            after_finalize(*job);
        else
            end_state(job->watch, record::State::exited);
        return;
    }
    if (close_the_gate() == nullptr) return;
    job->services.stop(*job, Ending::exit);
    // Other threads may be in calls and use the budget. Processes that share the ledger find out that this one is gone.
    if (!g_plugin.several_threads) job->memory.leave_ledger();
    job->helper_thread.reset();
    if (!job->aborted) end_state(job->watch, record::State::exited);  // an MPI may end the process by exit()
}

/// Runs after all handlers of the program and all destructors, note_exit among them: each of these may still change the
/// code, or end the process otherwise.
void end_of_process(int status, void*) {
    Job* const job = own_job();
    if (job == nullptr) return;
    record::RankHead& head = job->watch.record().head;
    if (head.state == record::State::exited) {
        head.exit_code = status & 0xff;
        if (!job->ended) tell_end(job->watch.file(), head.world_rank, report::How::exited, head.exit_code);
    }
    say_last_words();
}

/// The first that is registered runs last.
[[gnu::constructor]] void ask_for_end_of_process() noexcept {
    on_exit(end_of_process, nullptr);
}

}  // namespace

void end_in_finalize() noexcept {
    int key = MPI_KEYVAL_INVALID;
    if (MPI_Comm_create_keyval(attribute_is_copied, attribute_is_deleted, &key, nullptr) != MPI_SUCCESS) return;
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
}

int finalize(int (*below)(), void*) {
    Inside const inside;
    Job* const job = g_plugin.job;
    if (job == nullptr || job->ended || !job->started) return all_has_been_said(below());
    begin_end(*job);
    // MPICH deletes the attributes later, if a session is still open.
    if (g_plugin.with_sessions == getpid()) end_together(*job, Ending::finalize);
    job->is_in_finalize = true;
    int const code = below();
    job->is_in_finalize = false;
    if (!job->ended) end_together(*job, Ending::exit);
    after_finalize(*job);
    return all_has_been_said(code);
}

void note_fatal_error(int code) noexcept {
    note_abort(report::How::failed, code);
}

void note_abrupt_end(int status) noexcept {
    Job* const job = own_job();
    if (job == nullptr || !job->started) return;
    record::RankHead& head = job->watch.record().head;
    if (head.state == record::State::ended || head.state == record::State::aborted) return;
    put(head.end_seen.status, status);
    put(head.end_seen.unix_us, unix_us());
    put(head.end_seen.seen, 1);
    if (job->reported || !job->is_watched) return;
    tell_end_seen(job->watch.file(), head);
}

void note_call_of_abort() noexcept {
    Job* const job = own_job();
    if (job != nullptr && job->abort_handler.ends_by_signal()) note_abrupt_end(SIGABRT);
}

int abort_job(int (*below)(MPI_Comm, int), MPI_Comm comm, int code) {
    note_abort(report::How::aborted, code);
    if (is_inside()) return below(comm, code);
    Inside const inside;
    return below(comm, code);
}

}  // namespace sluice::plugin
