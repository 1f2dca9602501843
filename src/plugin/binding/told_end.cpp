// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/told_end.hpp"

#include <atomic>
#include <string_view>
#include <utility>

#include "plugin/binding/say.hpp"
#include "report/show/why/ends.hpp"

namespace sluice::plugin {

namespace {

/// What a line ends with: how to read the records.
std::pair<char const*, char const*> to_records(record::RecordFile& file) noexcept {
    if (!file.in_file()) return {"", ""};
    return {". What the ranks wrote down: sluice report ", file.folder().c_str()};
}

/// Whether no rank of the node has spoken yet.
bool is_first(record::RecordFile& file) noexcept {
    return std::atomic_ref(file.node().end_told).exchange(1) == 0;
}

}  // namespace

void tell_end(record::RecordFile& file, std::uint32_t rank, report::How how,
              std::optional<std::int64_t> code) noexcept {
    if (!is_first(file)) return;
    auto const [records, folder] = to_records(file);
    report::WayRoom room;
    std::string_view const way = report::way_text(how, code, room);
    auto const bytes = static_cast<int>(way.size());
    switch (how) {
        case report::How::aborted:
            return say("no report: %.*s by rank %u%s%s", bytes, way.data(), rank, records, folder);
        case report::How::exited:
            return say("no report: rank %u ended with %.*s%s%s", rank, bytes, way.data(), records, folder);
        case report::How::killed:
        case report::How::failed:
            return say("no report: rank %u ended by %.*s%s%s", rank, bytes, way.data(), records, folder);
        case report::How::unknown:
            return say("no report: rank %u has ended without MPI_Finalize%s%s", rank, records, folder);
    }
}

void tell_end_seen(record::RecordFile& file, record::RankHead const& head) noexcept {
    record::RankHead gone;
    gone.state = record::State::gone;
    gone.end_seen = head.end_seen;
    auto const end = report::end_of(gone);
    tell_end(file, head.world_rank, end->how, end->code);
}

}  // namespace sluice::plugin
