// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/ending.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "functions.hpp"
#include "groups/tags.hpp"
#include "mpi/mpi.hpp"
#include "plugin/binding/installation.hpp"
#include "plugin/binding/say.hpp"
#include "report/read/sum_contradictions.hpp"
#include "report/show/files.hpp"
#include "report/show/text.hpp"
#include "report/summary/summary.hpp"
#include "report/summary/summary_json.hpp"

namespace sluice::plugin {

namespace {

constexpr int k_tag = groups::tags::k_job_report.first;

/// Nodes are numbered by the order of the ranks that have their sums.
std::uint32_t number_of_node(MPI_Comm all, bool has_sum) {
    std::uint32_t const mine = has_sum ? 1 : 0;
    std::uint32_t before = 0;
    mpi::check(MPI_Exscan(&mine, &before, 1, MPI_UINT32_T, MPI_SUM, all), "MPI_Exscan");
    return mpi::rank_in(all) == 0 ? 0 : before;
}

/// The sum of a node goes from rank to rank of it; the last one has it.
void add_my_node(MPI_Comm all, record::RankRecord const& record, report::Summary& summary) {
    mpi::Communicator const node = mpi::Communicator::of_node(all);
    int const rank = mpi::rank_in(node.get());
    int const size = mpi::size_of(node.get());
    std::uint32_t const number = number_of_node(all, rank + 1 == size);
    report::NodeSum sum;
    static_assert(std::is_trivially_copyable_v<report::NodeSum>);
    if (rank > 0)
        mpi::check(MPI_Recv(&sum, sizeof sum, MPI_BYTE, rank - 1, k_tag, node.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    report::add_rank(sum, record);
    if (rank + 1 < size) {
        mpi::check(MPI_Send(&sum, sizeof sum, MPI_BYTE, rank + 1, k_tag, node.get()), "MPI_Send");
    } else {
        sum.node = number;
        report::add_node(summary, sum);
    }
}

void send_summary(MPI_Comm all, int to, report::Summary const& summary) {
    std::vector<std::uint8_t> const bytes = report::to_bytes(summary);
    auto const count = static_cast<int>(bytes.size());
    mpi::check(MPI_Send(bytes.data(), count, MPI_BYTE, to, k_tag, all), "MPI_Send");
}

report::Summary receive_summary(MPI_Comm all, int from) {
    MPI_Status status;
    mpi::check(MPI_Probe(from, k_tag, all, &status), "MPI_Probe");
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    mpi::check(MPI_Recv(bytes.data(), count, MPI_BYTE, from, k_tag, all, MPI_STATUS_IGNORE), "MPI_Recv");
    return report::from_bytes(bytes);
}

/// Binomial tree: a summary does not grow with the ranks that it speaks of.
void gather(MPI_Comm all, report::Summary& summary) {
    int const rank = mpi::rank_in(all);
    int const size = mpi::size_of(all);
    for (int step = 1; step < size; step *= 2) {
        if ((rank & step) != 0) {
            send_summary(all, rank - step, summary);
            return;
        }
        if (rank + step < size) report::merge(summary, receive_summary(all, rank + step));
    }
}

report::Summary summary_of_job(MPI_Comm all, record::RankRecord const& record) {
    report::Scope scope;
    scope.functions = k_function_names;
    mpi::check(MPI_Allreduce(&record.head.now_us, &scope.duration_us, 1, MPI_UINT64_T, MPI_MAX, all), "MPI_Allreduce");
    mpi::check(MPI_Allreduce(&record.head.start_unix_us, &scope.start_unix_us, 1, MPI_UINT64_T, MPI_MIN, all),
               "MPI_Allreduce");
    report::CommCounts const mine = report::rooted_comms(record);
    std::array<std::uint64_t, 2> const counts{mine.several, mine.alone};
    std::array<std::uint64_t, 2> before{};
    mpi::check(MPI_Exscan(counts.data(), before.data(), 2, MPI_UINT64_T, MPI_SUM, all), "MPI_Exscan");
    if (mpi::rank_in(all) != 0) scope.comms_before = {before[0], before[1]};
    mpi::check(MPI_Allreduce(counts.data(), &scope.comms_of_several, 1, MPI_UINT64_T, MPI_SUM, all), "MPI_Allreduce");
    report::Summary summary = report::summary_of(record, scope);
    add_my_node(all, record, summary);
    gather(all, summary);
    return summary;
}

/// The report is one, and rank 0 writes it. A rank that was given another folder says that it gets none.
void say_whose_folder_it_is(MPI_Comm all, std::string const& folder) {
    std::uint64_t const mine = base::Fnv1a().add(std::string_view(folder)).value();
    std::uint64_t first = mine;
    mpi::check(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, all), "MPI_Bcast");
    if (!folder.empty() && first != mine)
        say_once_a_node("no report in %s: it is written where the --report of rank 0 says, which is not the same",
                        folder.c_str());
}

}  // namespace

std::string report_at_end(MPI_Comm all, record::RankRecord const& record, Settings const& settings) {
    std::string const& folder = settings.report;
    std::string lines;
    try {
        say_whose_folder_it_is(all, folder);
        report::Summary const summary = summary_of_job(all, record);
        if (mpi::rank_in(all) != 0) return lines;
        for (std::string const& line : report::lines_of_contradictions(summary))
            lines += line + "\n";
        if (settings.watch == Switch::off) {
            for (std::string const& line : report::service_lines(summary))
                lines += line + "\n";
            return lines;
        }
        lines += report::to_screen(summary);
        if (folder.empty()) return lines;
        report::write_report(folder, summary, page_template());
        return lines + "report written to " + folder + "\n";
    } catch (std::exception const& error) {
        return lines + "no report: " + error.what() + "\n";
    }
}

}  // namespace sluice::plugin
