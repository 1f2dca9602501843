// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/start.hpp"

#include <pthread.h>

#include <algorithm>

#include "plugin/binding/callers.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/job/declaration.hpp"
#include "plugin/job/identity.hpp"
#include "plugin/job/rank_head.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "sluice/budget.hpp"

namespace sluice::plugin {

namespace {

// A pair of readings costs about a microsecond: half a percent at most.
constexpr std::uint64_t k_reading_gap_us = 200;

void know_the_job(Job& job) {
    int level = MPI_THREAD_SINGLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    MPI_Query_thread(&level);
    g_plugin.several_threads = level == MPI_THREAD_MULTIPLE;
}

void describe_job(Job& job) {
    record::RankHead& head = job.watch.record().head;
    describe_rank(head, job.rank, job.size);
    if (job.settings.identify == Switch::on) identify(head);
    Bytes const asked = job.settings.node_memory;
    head.memory_limit = asked.count > 0 ? asked.count : job.memory.memory_limit().limit.count;
}

/// Until here no rank may send anything of ours.
void meet_the_others(Job& job) {
    bool const all = all_ranks_declared(job.watch.file(), job.size);
    if (all) job.all = mpi::Communicator::twin_of(MPI_COMM_WORLD);
    if (!all && job.rank == 0)
        say("only some of the %d ranks run under sluice, or they could not tell each other over their nodes: watching "
            "only",
            job.size);
}

/// What goes over the wire is agreed on by one reduction.
void choose_services(Job& job) {
    Services all = make_services();
    RunningServices::Bits const mine = RunningServices::wishes(all, job, !g_plugin.several_threads);
    RunningServices::Bits agreed;
    if (job.all) {
        agreed = mine;
        auto const count = static_cast<int>(agreed.size());
        MPI_Allreduce(MPI_IN_PLACE, agreed.data(), count, MPI_INT, MPI_MIN, job.all.get());
    }
    job.one_thread = (agreed.empty() ? mine : agreed)[0] != 0;
    for (char const* const name : job.services.choose(std::move(all), mine, agreed))
        if (job.rank == 0) say("%s are left to MPI: the program initialised it with MPI_THREAD_MULTIPLE", name);
}

void learn_from_mpi(Job& job) {
    job.watch.communicators().start(job.rank, job.size, static_cast<bool>(job.all), job.one_thread);
    find_bindings();
    learn_types();
}

/// In a child that the program forks nothing is watched: our thread is not there, and the record is its parent's.
void stop_in_child() {
    Job* const job = g_plugin.watched.exchange(nullptr, std::memory_order_relaxed);
    if (job != nullptr) job->services.in_child();
}

void start_services(Job& job) {
    // The program is outside MPI from here on; samples of a service may begin.
    put(job.watch.record().head.current_since_us, job.watch.clock().us_since_start(ticks()));
    job.services.start(job);
    pthread_atfork(nullptr, nullptr, stop_in_child);
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

void open_the_gate(Job& job) {
    job.watch.memory().start(job.watch.clock().ticks_in_us(k_reading_gap_us));
    job.started = true;
    if (!job.services.empty()) g_plugin.watched.store(&job, std::memory_order_release);
}

}  // namespace

void start_job(Job& job, InitCall const& init) {
    MemoryWatch::Reading const after = job.watch.memory().read_now();
    know_the_job(job);
    account_for_init(job.watch, init, after, job.settings.watch == Switch::on);
    describe_job(job);
    Resident const before_traffic = job.watch.memory().read_now().others;
    meet_the_others(job);
    choose_services(job);
    Resident const after_traffic = job.watch.memory().read_now().others;
    learn_from_mpi(job);
    start_services(job);
    count_own_memory(job, after.others, before_traffic, after_traffic);
    open_the_gate(job);
}

}  // namespace sluice::plugin
