// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/start.hpp"

#include <pthread.h>

#include <algorithm>
#include <string>

#include "budget/memory_limit.hpp"
#include "budget/node_limit.hpp"
#include "kernel/job/once_a_node.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/job/declaration.hpp"
#include "plugin/job/end/finalize.hpp"
#include "plugin/job/identity.hpp"
#include "plugin/job/mpi_pages.hpp"
#include "plugin/job/rank_head.hpp"
#include "plugin/job/startup_pages.hpp"
#include "plugin/job/thread_level.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "sluice/budget.hpp"

namespace sluice::plugin {

namespace {

// A pair of readings costs about a microsecond: half a percent at most.
constexpr std::uint64_t k_reading_gap_us = 200;

void know_the_job(Job& job) {
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    MPI_Query_thread(&job.thread_level);
    g_plugin.several_threads = level_of_program(job.thread_level) == MPI_THREAD_MULTIPLE;
}

void describe_job(Job& job) {
    record::RankHead& head = job.watch.record().head;
    describe_rank(head, job.rank, job.size);
    if (job.settings.identify == Switch::on) identify(head);
    head.asked_memory = job.settings.node_memory.count;
    Bytes const limit = budget::find_node_limit();
    if (limit.count < budget::k_no_memory_limit) head.memory_limit = limit.count;
}

/// Until here no rank may send anything of ours.
void meet_the_others(Job& job) {
    Declared const declared = who_declared(job.watch.file(), job.rank, job.size);
    if (declared.all) job.all = mpi::Communicator::twin_of(MPI_COMM_WORLD);
    job.speaks_for_strangers = declared.speaks && kernel::is_first_to_say("strangers");
    if (!job.speaks_for_strangers) return;
    if (!job.watch.file().shares_node())
        say("the ranks share no file of their node, so they do not know whether all run under sluice: watching only");
    else
        say("the %d ranks do not know whether all run under sluice, because some run without it, keep their records in "
            "another folder (TMPDIR, --report) or are on another node: watching only",
            job.size);
}

void say_refusal(char const* service, std::string const& why) {
    say_once_a_node("%s: %s", service, why.c_str());
}

/// What goes over the wire is agreed on by one reduction.
void choose_services(Job& job) {
    RunningServices::Rank const rank{static_cast<bool>(job.all), !g_plugin.several_threads};
    RunningServices::Bits const mine = job.services.prepare(job, rank, say_refusal);
    RunningServices::Bits agreed;
    if (job.all) {
        agreed = mine;
        auto const count = static_cast<int>(agreed.size());
        MPI_Allreduce(MPI_IN_PLACE, agreed.data(), count, MPI_INT, MPI_MIN, job.all.get());
    }
    job.one_thread = (agreed.empty() ? mine : agreed)[0] != 0;
    job.services.choose(mine, agreed);
}

/// In a child that the program forks nothing is watched: our thread is not there, and the record is its parent's. It
/// has no descriptor of ours.
void stop_in_child() {
    g_plugin.watched.store(nullptr, std::memory_order_relaxed);
    Job* const job = g_plugin.served.exchange(nullptr, std::memory_order_relaxed);
    if (job == nullptr) return;
    job->services.in_child();
    job->watch.memory().let_go_of_files();
    kernel::forget_what_was_said();
}

/// The job that a thread forks in: another thread may end it meanwhile.
thread_local Job* t_forked_in = nullptr;

void before_fork() {
    t_forked_in = g_plugin.served.load(std::memory_order_acquire);
    if (t_forked_in != nullptr) t_forked_in->services.before_fork();
}

void after_fork() {
    if (t_forked_in != nullptr) t_forked_in->services.after_fork();
}

void start_services(Job& job) {
    // The program is outside MPI from here on; samples of a service may begin.
    put(job.watch.record().head.current_since_us, job.watch.clock().us_since_start(ticks()));
    job.services.start(job);
    pthread_atfork(before_fork, after_fork, stop_in_child);
}

/// A rank that watches no call would not take part in naming a communicator: all ranks learn whether there is one.
void agree_on_watching(Job& job) {
    int all_watch = job.services.empty() ? 0 : 1;
    if (job.all) MPI_Allreduce(MPI_IN_PLACE, &all_watch, 1, MPI_INT, MPI_MIN, job.all.get());
    if (job.all && job.size > 1 && all_watch == 0 && !job.services.empty() && job.rank == 0)
        say("a rank watches no calls: the ranks do not agree on communicators");
    job.watch.communicators().start(job.rank, job.size,
                                    {static_cast<bool>(job.all), job.all && all_watch != 0, job.one_thread});
}

/// Of memory without the pages of Sluice's own mappings, which each sample counts anew. `after`: when MPI_Init
/// returned. What has grown between the two readings around the first traffic is MPI's: the buffers of the first
/// messages, whichever they are.
void count_own_memory(Job& job, Resident const& after, Resident const& before_traffic, Resident const& after_traffic) {
    MemoryWatch& memory = job.watch.memory();
    Resident const now = memory.read_now().others;
    std::uint64_t const all = grown(after.private_bytes, now.private_bytes, job.taken_before_init);
    std::uint64_t const of_mpi = std::min(all, grown(before_traffic.private_bytes, after_traffic.private_bytes));
    memory.mpi_shared += grown(before_traffic.shared_bytes, after_traffic.shared_bytes);
    memory.mpi_private += of_mpi;
    memory.took(all - of_mpi);
}

/// Without watching only the calls that are served cost anything: memory is not read, and requests are not followed.
void open_the_gate(Job& job) {
    job.started = true;
    job.is_watched = !job.services.empty();
    if (!job.is_watched) return;
    bool const watches = job.settings.watch == Switch::on;
    if (watches) job.watch.memory().start(job.watch.clock().ticks_in_us(k_reading_gap_us));
    bool const all_calls = watches || !job.services.only_in_calls_of_many();
    if (!all_calls) job.watch.ignore_requests();
    g_plugin.served.store(&job, std::memory_order_release);
    if (all_calls) g_plugin.watched.store(&job, std::memory_order_release);
}

void give_back_code() {
    give_back_startup_pages();
    give_back_mpi_pages();
}

}  // namespace

void start_job(Job& job, InitCall const& init) {
    KernelSays kernel;
    job.watch.memory().own().look();
    MemoryWatch::Reading const after = job.watch.memory().read_with_peak(kernel);
    job.threads.after_init();
    end_in_finalize();
    know_the_job(job);
    account_for_init(job.watch, init, after, kernel, job.settings.watch == Switch::on);
    describe_job(job);
    Resident const before_traffic = job.watch.memory().read_now().others;
    // The MPI brings in pages of its own at each of the following steps: those of the steps before must not add to
    // them.
    give_back_code();
    meet_the_others(job);
    give_back_code();
    choose_services(job);
    Resident const after_traffic = job.watch.memory().read_now().others;
    give_back_code();
    learn_types(job.watch.datatypes());
    start_services(job);
    agree_on_watching(job);
    give_back_code();
    count_own_memory(job, after.others, before_traffic, after_traffic);
    open_the_gate(job);
}

}  // namespace sluice::plugin
