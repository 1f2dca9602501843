// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init: the Job is made before it, and started after it.
#include <exception>
#include <filesystem>

#include "plugin/binding/gate.hpp"
#include "plugin/binding/say.hpp"
#include "plugin/job/declaration.hpp"
#include "plugin/job/init_call.hpp"
#include "plugin/job/job.hpp"
#include "plugin/job/rank_head.hpp"
#include "plugin/job/start.hpp"
#include "plugin/job/startup_pages.hpp"
#include "plugin/services/job.hpp"
#include "plugin/wrappers/around.hpp"
#include "report/read/left_behind.hpp"

namespace sluice::plugin {

namespace {

Settings settings_or_defaults() {
    try {
        return Settings::from_environment();
    } catch (std::exception const& error) {
        say("%s; going on with the defaults", error.what());
        return {};
    }
}

/// The first rank of a job on its node removes what older jobs of this user left there, beyond the limits.
void remove_older_records(record::RecordFile& file, std::string const& report_folder) {
    if (!file.made_file()) return;
    std::filesystem::path const mine = file.path();
    report::remove_old_jobs(record::folder_of_jobs(), report_folder.empty() ? mine.parent_path() : "");
    if (!report_folder.empty()) report::remove_old_records(mine.parent_path(), mine);
}

Job& make_job() {
    Settings settings = settings_or_defaults();
    // Without watching the file only tells ranks of each other; it is removed if no report was requested.
    if (settings.watch == Switch::off) settings.report.clear();
    std::string why;
    std::string const path = record_path(settings.report, why);
    if (!why.empty()) say("no record is kept in a file: %s", why.c_str());
    Job& job = *new Job(std::move(settings), path);
    if (!path.empty() && !job.watch.file().in_file())
        say("no record is kept in a file: %s", job.watch.file().why().c_str());
    return job;
}

/// All that is done before libmpi runs. `untouched`: anonymous memory before any of it.
Job& begin_job(std::uint64_t untouched, InitCall& init) {
    Job& job = make_job();
    remove_older_records(job.watch.file(), job.settings.report);
    job.watch.clock().start();
    job.watch.record().head.start_unix_us = unix_us();
    give_back_startup_pages();
    MemoryWatch& memory = job.watch.memory();
    init.before = memory.read_now();
    std::uint64_t const is = init.before.others.private_bytes;
    job.taken_before_init = static_cast<std::int64_t>(is) - static_cast<std::int64_t>(untouched);
    memory.took(grown(untouched, is));
    declare();
    init.began = ticks();
    return job;
}

template <class Below>
int run(Function function, void const* caller, Below const& below) {
    Inside const inside;
    if (g_plugin.job != nullptr) return below();
    InitCall init{function, caller, {}, 0};
    Job& job = begin_job(MemoryWatch().read_now().others.private_bytes, init);
    g_plugin.job = &job;
    int const code = below();
    if (code != MPI_SUCCESS) return code;
    try {
        start_job(job, init);
    } catch (std::exception const& error) {
        say("does not watch: %s", error.what());
    }
    return code;
}

}  // namespace

int initialize(int (*below)(int*, char***), void* caller, int* argc, char*** argv) {
    return run(Function::Init, caller, [&] { return below(argc, argv); });
}

int initialize_thread(int (*below)(int*, char***, int, int*), void* caller, int* argc, char*** argv, int required,
                      int* provided) {
    return run(Function::Init_thread, caller, [&] { return below(argc, argv, required, provided); });
}

}  // namespace sluice::plugin
