// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/local_report.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "functions.hpp"
#include "kernel/files/folder.hpp"
#include "kernel/process/beside.hpp"
#include "plugin/binding/installation.hpp"
#include "record/node_file.hpp"
#include "report/show/at_end.hpp"

namespace sluice::plugin {

namespace {

constexpr std::chrono::milliseconds k_pause{1};
constexpr int k_pauses_between_looks = 100;

/// False when each rank that lives has written its record.
bool will_be_written(std::filesystem::path const& path) {
    record::NodeFile const file(kernel::Folder::named(path.parent_path()), path.filename());
    for (std::uint64_t i = 0; i < file.whole(); ++i) {
        record::RankHead head;
        if (!file.read_head(i, head)) continue;
        bool const may_write = head.state == record::State::running || head.state == record::State::finalizing;
        if (may_write && kernel::life_of(head.process) == kernel::Life::alive) return true;
    }
    return false;
}

/// MPI_Finalize may return on this rank before the last rank has entered it.
void wait_for_records(record::RecordFile& file) {
    record::NodeHeader& node = file.node();
    std::uint32_t const all = std::atomic_ref(node.claimed).load();
    for (int pauses = 1; std::atomic_ref(node.written).load(std::memory_order_acquire) < all; ++pauses) {
        if (pauses % k_pauses_between_looks == 0 && !will_be_written(file.path())) return;
        std::this_thread::sleep_for(k_pause);
    }
}

std::string made_here(report::EndedJob const& job) {
    try {
        return report::report_at_end(job, k_function_names, page_template());
    } catch (std::exception const& error) {
        return std::string("no report: ") + error.what() + "\n";
    }
}

}  // namespace

bool is_on_one_node(Job& job) {
    record::RecordFile& file = job.watch.file();
    return job.all && file.in_file() &&
           std::atomic_ref(file.node().claimed).load() == static_cast<std::uint32_t>(job.size);
}

void note_written(record::NodeHeader& node) noexcept {
    std::atomic_ref(node.written).fetch_add(1, std::memory_order_release);
}

std::string report_of_node(Job& job) {
    wait_for_records(job.watch.file());
    report::EndedJob const ended{job.watch.file().path(), job.settings.watch == Switch::on, job.settings.report};
    std::vector<std::string> command = report::arguments_of(ended);
    command.insert(command.begin(), {sluice_command().string(), "report"});
    std::optional<std::string> lines;
    if (!command.front().empty()) lines = kernel::output_of_beside(command);
    return lines ? *lines : made_here(ended);
}

}  // namespace sluice::plugin
