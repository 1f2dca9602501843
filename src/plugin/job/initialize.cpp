// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init: the Job is made before it, and started after it.
#include <unistd.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "kernel/files/standard_error.hpp"
#include "kernel/thread/faults.hpp"
#include "plugin/binding/clock.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/binding/module.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/job/declaration.hpp"
#include "plugin/job/init_call.hpp"
#include "plugin/job/job.hpp"
#include "plugin/job/start.hpp"
#include "plugin/job/startup_pages.hpp"
#include "plugin/job/thread_level.hpp"
#include "plugin/services/job.hpp"
#include "plugin/wrappers/around.hpp"
#include "record/jobs_folder.hpp"
#include "report/read/left_behind.hpp"

namespace sluice::plugin {

namespace {

Settings settings_or_defaults() {
    try {
        return Settings::from_environment();
    } catch (std::exception const& error) {
        say_once_a_node("%s; going on with the defaults", error.what());
        return {};
    }
}

/// The first rank of a job on its node removes what older jobs of this user left there, beyond the limits.
void remove_older_records(record::RecordFile const& file, std::string const& report_folder) {
    if (!file.made_file()) return;
    std::string const job_folder = file.folder() == report_folder ? "" : file.folder();
    std::vector<std::string> const temporary = record::temporary_folders();
    for (std::string const& folder : temporary) {
        if (folder != temporary.front() && !job_folder.starts_with(folder + "/")) continue;
        for (std::string const& jobs : record::folders_of_jobs(folder))
            report::remove_old_jobs(jobs, job_folder);
    }
    if (job_folder.empty()) report::remove_old_records(report_folder, file.path());
}

Job& make_job() {
    Settings settings = settings_or_defaults();
    kernel::be_quiet(settings.quiet == Switch::on);
    // Without watching the file only tells ranks of each other; it is removed if no report was requested.
    if (settings.watch == Switch::off) settings.report.clear();
    std::vector<std::string> lines;
    record::RecordFile file = claim_record(settings.report, lines);
    for (std::string const& line : lines)
        say_once_a_node("%s", line.c_str());
    Job& job = *new Job(std::move(settings), std::move(file));
    job.services.offer(make_services());
    return job;
}

/// All that is done before libmpi runs. `untouched`: anonymous memory before any of it.
Job& begin_job(std::uint64_t untouched, InitCall& init) {
    Job& job = make_job();
    remove_older_records(job.watch.file(), job.settings.report);
    job.watch.clock().start();
    job.watch.start_looks();
    job.watch.record().head.start_unix_us = unix_us();
    give_back_startup_pages();
    MemoryWatch& memory = job.watch.memory();
    memory.threads_before_init(kernel::count_threads());
    job.threads.before_init();
    memory.own().look();
    init.before = memory.read_with_peak(init.kernel);
    std::uint64_t const is = init.before.others.private_bytes;
    job.taken_before_init = static_cast<std::int64_t>(is) - static_cast<std::int64_t>(untouched);
    memory.took(grown(untouched, is));
    declare();
    init.began = ticks();
    return job;
}

/// `below` gets the thread level that services need.
template <class Below>
int run(Function function, void const* caller, Below const& below) {
    Inside const inside;
    if (g_plugin.job != nullptr) return below(MPI_THREAD_SINGLE);
    InitCall init{function, caller, {}, {}, 0, has_module(k_compiler)};
    Job& job = begin_job(MemoryWatch().read_now().others.private_bytes, init);
    g_plugin.job = &job;
    job.services.before_init(job);
    job.abort_handler.before_init();
    int const code = below(job.services.thread_level(job, job.settings));
    job.abort_handler.after_init();
    keep_fence_to_ourselves();
    if (code != MPI_SUCCESS) return code;
    try {
        start_job(job, init);
    } catch (std::exception const& error) {
        say_once_a_node("does not watch: %s", error.what());
    }
    return code;
}

}  // namespace

#if MPI_VERSION >= 4
int note_session(int (*below)(MPI_Info, MPI_Errhandler, MPI_Session*), MPI_Info info, MPI_Errhandler handler,
                 MPI_Session* session) {
    int const code = below(info, handler, session);
    if (code == MPI_SUCCESS && g_plugin.acting) g_plugin.with_sessions = getpid();
    return code;
}
#endif

int initialize(int (*below)(int*, char***), void* caller, int* argc, char*** argv) {
    return run(Function::Init, caller, [&](int needed) { return init_at(needed, below, argc, argv); });
}

int initialize_thread(int (*below)(int*, char***, int, int*), void* caller, int* argc, char*** argv, int required,
                      int* provided) {
    return run(Function::Init_thread, caller,
               [&](int needed) { return init_thread_at(needed, below, argc, argv, required, provided); });
}

}  // namespace sluice::plugin
