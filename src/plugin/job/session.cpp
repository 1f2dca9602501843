// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <vector>

#include "functions.hpp"
#include "mpi/mpi.hpp"
#include "plugin/binding/callers.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/binding/tally.hpp"
#include "plugin/job/declaration.hpp"
#include "plugin/job/ending.hpp"
#include "plugin/job/identity.hpp"
#include "plugin/job/job.hpp"
#include "plugin/job/startup_pages.hpp"
#include "plugin/services/service.hpp"
#include "plugin/tables/message_bytes.hpp"
#include "plugin/watch/watch.hpp"
#include "plugin/wrappers/around.hpp"
#include "report/read/left_behind.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::plugin {

namespace {

// A pair of readings costs about a microsecond: half a percent at most.
constexpr std::uint64_t k_reading_gap_us = 200;

Job* job = nullptr;  // from MPI_Init on

Settings settings_or_defaults() {
    try {
        return Settings::from_environment();
    } catch (std::exception const& error) {
        say("%s; going on with the defaults", error.what());
        return {};
    }
}

void copy_text(std::span<char> to, char const* from) {
    std::strncpy(to.data(), from, to.size() - 1);
}

std::uint64_t unix_us() {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// In a child that the program forks nothing is watched: our thread is not there, and the record is its parent's.
void stop_in_child() {
    g_watching.store(false, std::memory_order_relaxed);
    for (Service* const service : job->running)
        service->in_child();
}

void describe_rank(record::RankHead& head, int rank, int size) {
    head.world_rank = static_cast<std::uint32_t>(rank);
    head.world_size = static_cast<std::uint32_t>(size);
    std::string version(8192, '\0');
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    int major = 0;
    int minor = 0;
    MPI_Get_version(&major, &minor);
    std::string const name = version.substr(0, version.find_first_of(",\n"));
    std::string shown = name.starts_with("MPICH") ? "MPICH" : name.substr(0, 40);
    if (std::size_t const at = version.find("Version:"); at != std::string::npos) {
        std::size_t const from = version.find_first_not_of(" \t", at + 8);
        shown += " " + version.substr(from, version.find('\n', from) - from);
    }
    copy_text(head.mpi, shown.c_str());
    head.used = 1;
}

/// Bytes from one reading to the next, and those before; at least 0.
std::uint64_t grown(Resident from, Resident to, std::int64_t before) {
    std::int64_t const bytes = before + static_cast<std::int64_t>(to.all()) - static_cast<std::int64_t>(from.all());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

/// The first two points of the curve are the process's memory before and after MPI_Init.
void begin_history(Watch& watch, std::uint32_t site, std::uint64_t began_us, Resident before, Resident after) {
    record::RankRecord& record = watch.record();
    auto const kib = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / 1024); };
    std::uint32_t const ours = kib(watch.memory().sluice);
    record.history[0] = {began_us, kib(before.all()), 0, 0, ours, 0, site};
    record.history[1] = {watch.clock().us_since_start(ticks()),
                         kib(after.all()),
                         kib(record.head.init_private),
                         kib(record.head.init_shared),
                         ours,
                         0,
                         site};
    record.head.history = 2;
}

/// Memory that MPI_Init took, and its place in the table of calls.
void account_for_init(Watch& watch, Function function, void* caller, Resident before, Resident after,
                      std::uint64_t began) {
    record::RankRecord& record = watch.record();
    record.head.before_init = before.all();
    record.head.init_private = after.private_bytes - std::min(before.private_bytes, after.private_bytes);
    record.head.init_shared = after.shared_bytes - std::min(before.shared_bytes, after.shared_bytes);
    watch.memory().mpi_private = record.head.init_private;
    watch.memory().mpi_shared = record.head.init_shared;
    std::uint32_t const index = watch.sites().of(function, caller);
    record::Site& site = record.sites[index];
    site.calls = 1;
    site.time_ns = watch.clock().ns(ticks() - began);
    site.longest_ns = site.time_ns;
    site.grown_private = record.head.init_private;
    site.grown_shared = record.head.init_shared;
    site.last_us = watch.clock().us_since_start(ticks());
    record.head.time_in_mpi_ns = site.time_ns;
    std::uint64_t const began_us = watch.clock().us_since_start(began);
    watch.keep_event(index, began_us, site.time_ns / 1000, 0);
    if (job->settings.watch == Switch::on) begin_history(watch, index, began_us, before, after);
}

/// The services that this rank starts. Settings and thread levels may differ between ranks; what goes over the wire may
/// not, so the ranks agree on it.
std::vector<Service*> able_to_start(int level) {
    std::vector<int> yes{level != MPI_THREAD_MULTIPLE ? 1 : 0};
    for (Service const* const service : services())
        yes.push_back(service->wanted(*job) ? 1 : 0);
    std::vector<int> agreed = yes;
    auto const count = static_cast<int>(agreed.size());
    if (job->all) MPI_Allreduce(MPI_IN_PLACE, agreed.data(), count, MPI_INT, MPI_MIN, job->all.get());
    job->one_thread = agreed[0] != 0;
    std::vector<Service*> able;
    for (std::size_t i = 0; i < services().size(); ++i) {
        Service* const service = services()[i];
        Needs const needs = service->needs();
        bool const wanted = needs == Needs::nothing ? yes[i + 1] != 0 : job->all && agreed[i + 1] != 0;
        bool const fits = needs != Needs::one_thread || job->one_thread;
        if (wanted && fits) able.push_back(service);
        if (wanted && !fits && job->rank == 0)
            say("%s are left to MPI: the program initialised it with MPI_THREAD_MULTIPLE", service->name());
    }
    return able;
}

/// The last that started stops first.
void stop_services(Ending ending) {
    for (; !job->running.empty(); job->running.pop_back())
        job->running.back()->stop(ending);
}

void start_watching(Watch& watch, Function function, void* caller, Resident before, std::uint64_t began) {
    int level = MPI_THREAD_SINGLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->size);
    MPI_Query_thread(&level);
    Resident const after = watch.memory().read();
    describe_rank(watch.record().head, job->rank, job->size);
    account_for_init(watch, function, caller, before, after, began);
    if (job->settings.identify == Switch::on) identify(watch.record().head);
    g_several_threads = level == MPI_THREAD_MULTIPLE;
    Bytes const asked = job->settings.node_memory;
    watch.record().head.memory_limit =
        asked.count > 0 ? asked.count : detect_memory_limit(job->settings.memory).limit.count;

    bool const all = all_ranks_declared(watch.file(), job->size);
    if (all) job->all = mpi::Communicator::twin_of(MPI_COMM_WORLD);
    if (!all && job->rank == 0)
        say("only some of the %d ranks run under sluice, or they could not tell each other over their nodes: watching "
            "only",
            job->size);
    std::vector<Service*> const able = able_to_start(level);
    watch.communicators().start(job->rank, job->size, all, job->one_thread);
    find_bindings();
    learn_types();
    pthread_atfork(nullptr, nullptr, stop_in_child);
    put(watch.record().head.current_since_us, watch.clock().us_since_start(ticks()));  // outside MPI, from here on
    for (Service* const service : able) {
        service->start(*job);
        job->running.push_back(service);
    }
    Resident const now = watch.memory().read();
    watch.memory().sluice = grown(after, now, job->taken_before_init);
    watch.memory().start(watch.clock().ticks_in_us(k_reading_gap_us));
    job->started = true;
    g_watching.store(!job->running.empty(), std::memory_order_release);
}

/// The first rank of a job on its node removes what older jobs of this user left there, beyond the limits.
void remove_older_records(record::RecordFile& file, std::string const& report_folder) {
    if (!file.made_file()) return;
    std::filesystem::path const mine = file.path();
    report::remove_old_jobs(record::folder_of_jobs(), report_folder.empty() ? mine.parent_path() : "");
    if (!report_folder.empty()) report::remove_old_records(mine.parent_path(), mine);
}

template <class Init>
int begin_job(Function function, void* caller, Init const& init) {
    Inside const inside;
    if (job != nullptr) return init();
    Resident const untouched = MemoryWatch().read();
    job = new Job();  // lives as long as the process: MPI may be used up to its end
    job->settings = settings_or_defaults();
    std::string why;
    // Without watching the file only tells ranks of each other; it is removed if no report was requested.
    if (job->settings.watch == Switch::off) job->settings.report.clear();
    std::string const path = record_path(job->settings.report, why);
    if (!why.empty()) say("no record is kept in a file: %s", why.c_str());
    g_watch = new Watch(path);
    if (!path.empty() && !g_watch->file().in_file())
        say("no record is kept in a file: %s", g_watch->file().why().c_str());
    remove_older_records(g_watch->file(), job->settings.report);
    g_watch->clock().start();
    g_watch->record().head.start_unix_us = unix_us();
    give_back_startup_pages();  // before anything of it is counted: what comes back is then counted where it does
    Resident const before = g_watch->memory().read();
    job->taken_before_init = static_cast<std::int64_t>(before.all()) - static_cast<std::int64_t>(untouched.all());
    g_watch->memory().sluice = grown(untouched, before, 0);
    declare();
    std::uint64_t const began = ticks();
    int const code = init();
    if (code != MPI_SUCCESS) return code;
    try {
        start_watching(*g_watch, function, caller, before, began);
    } catch (std::exception const& error) {
        say("does not watch: %s", error.what());
    }
    return code;
}

std::uint64_t high_water() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string folder_of(record::RecordFile const& file) {
    return file.path().substr(0, file.path().rfind('/'));
}

/// How to see what the ranks wrote down; nothing where their records are in no file.
std::string how_to_see(record::RecordFile const& file) {
    return file.in_file() ? ". What the ranks wrote down: sluice report " + folder_of(file) : std::string();
}

/// The last rank that ends in order removes a file that no setting asked for.
void leave_node(record::RecordFile& file, bool asked_for) {
    if (!file.in_file()) return;
    std::uint32_t const ended = std::atomic_ref(file.node().ended).fetch_add(1) + 1;
    if (asked_for || ended != std::atomic_ref(file.node().claimed).load()) return;
    unlink(file.path().c_str());
    rmdir(folder_of(file).c_str());
}

void end_state(record::State state) {
    record::RankHead& head = g_watch->record().head;
    head.state = state;
    head.end_us = g_watch->clock().us_since_start(ticks());
    head.high_water = high_water();
}

/// A program that ends without MPI_Finalize: nothing can be gathered any more, but what was written stays.
[[gnu::destructor]] void note_exit() {
    if (job == nullptr || job->ended || job->process != getpid() || !g_watching.load()) return;
    g_watching.store(false);
    stop_services(Ending::exit);
    end_state(record::State::exited);
    if (g_watch->record().head.world_rank == 0)
        say("no report: the program ended without MPI_Finalize%s", how_to_see(g_watch->file()).c_str());
}

}  // namespace

int initialize(int (*below)(int*, char***), void* caller, int* argc, char*** argv) {
    return begin_job(Function::Init, caller, [&] { return below(argc, argv); });
}

int initialize_thread(int (*below)(int*, char***, int, int*), void* caller, int* argc, char*** argv, int required,
                      int* provided) {
    return begin_job(Function::Init_thread, caller, [&] { return below(argc, argv, required, provided); });
}

int finalize(int (*below)(), void*) {
    Inside const inside;
    if (job == nullptr || job->ended || !job->started) return below();
    g_watching.store(false);
    job->ended = true;
    stop_services(Ending::finalize);
    end_state(record::State::ended);  // as the report has it
    bool const wanted = job->settings.watch == Switch::on;
    if (wanted && job->all)
        report_at_end(job->all.get(), g_watch->record(), job->settings.report);
    else if (wanted && g_watch->record().head.world_rank == 0)
        say("no report was gathered, because not all ranks run under sluice");
    job->all = mpi::Communicator();
    end_state(record::State::finalizing);
    int const code = below();
    end_state(record::State::ended);
    leave_node(g_watch->file(), !job->settings.report.empty());
    return code;
}

int abort_job(int (*below)(MPI_Comm, int), void*, MPI_Comm comm, int code) {
    Inside const inside;
    if (job != nullptr && g_watching.load()) {
        g_watch->record().head.abort_code = static_cast<std::uint32_t>(code);
        end_state(record::State::aborted);
        say("no report: MPI_Abort(%d) by rank %u%s", code, g_watch->record().head.world_rank,
            how_to_see(g_watch->file()).c_str());
    }
    return below(comm, code);
}

}  // namespace sluice::plugin
