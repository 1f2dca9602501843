// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/job.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "kernel/files/folder.hpp"
#include "kernel/job/job_name.hpp"
#include "record/jobs_folder.hpp"

namespace sluice::plugin {

namespace {

std::string node_number() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return kernel::hashed_name(name);
}

kernel::Folder report_folder(std::string const& path) {
    std::error_code unseen;
    std::filesystem::create_directories(path, unseen);
    return kernel::Folder::named(path);
}

// Each rank of a node may remove the folder once.
constexpr int k_tries = 64;

/// Claims a record in a folder, or says why that was not possible.
record::RecordFile claim_in(kernel::Folder const& folder, std::string& why) {
    if (!folder.is_open()) {
        why = folder.path() + ": " + folder.why();
        return {};
    }
    record::RecordFile file(folder, "node-" + kernel::job_name() + "-" + node_number() + ".sluice");
    why = file.why();
    return file;
}

/// The same in the folder of this job. Another rank that found no room in it may have removed it meanwhile, which is no
/// reason: then it is made again.
record::RecordFile claim_in_folder_of_job(record::JobsFolder& jobs, std::string& why) {
    if (!jobs.folder.is_open()) return claim_in(jobs.folder, why);
    std::string const path = jobs.folder.path_of(kernel::job_name());
    for (int tried = 1;; ++tried) {
        jobs.folder = kernel::Folder::own(path);
        record::RecordFile file = claim_in(jobs.folder, why);
        bool const is_there = jobs.folder.is_open() && !jobs.folder.is_gone();
        if (file.shares_node() || is_there || tried == k_tries) return file;
    }
}

}  // namespace

record::RecordFile claim_record(std::string const& report, std::vector<std::string>& lines) {
    std::string why;
    std::string why_not_in_report;
    if (!report.empty()) {
        record::RecordFile file = claim_in(report_folder(report), why);
        if (file.in_file()) return file;
        if (file.shares_node()) {
            lines.push_back("if this job is killed, its report will lack ranks: " + why);
            return file;
        }
        why_not_in_report = why;
    }
    std::string why_not_in_first;
    for (std::string const& temporary : record::temporary_folders()) {
        record::JobsFolder jobs = record::open_folder_of_jobs(temporary);
        record::RecordFile file = claim_in_folder_of_job(jobs, why);
        if (file.shares_node()) {
            for (std::string const& reason : {why_not_in_report, why_not_in_first, jobs.why_other})
                if (!reason.empty())
                    lines.push_back("the records of the ranks are in " + file.folder() + ", because " + reason);
            if (!file.in_file()) lines.push_back("if this job is killed, its report will lack ranks: " + why);
            return file;
        }
        if (why_not_in_first.empty()) why_not_in_first = why;
        if (jobs.folder.is_open()) rmdir(jobs.folder.path().c_str());  // another rank may use it: then it stays
    }
    lines.push_back("no record is kept in a file: " + why_not_in_first);
    return {};
}

}  // namespace sluice::plugin
