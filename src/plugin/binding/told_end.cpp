// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/told_end.hpp"

#include <atomic>
#include <exception>
#include <string>
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
    if (how == report::How::aborted) {
        say("no report: MPI_Abort(%d) by rank %u%s%s", static_cast<int>(code.value_or(0)), rank, records, folder);
        return;
    }
    if (how == report::How::failed) {
        say("no report: rank %u ended by a fatal error of MPI (code %d)%s%s", rank, static_cast<int>(code.value_or(0)),
            records, folder);
        return;
    }
    try {
        std::string const way = report::way_text(how, code);
        if (how == report::How::exited)
            return say("no report: rank %u ended with %s%s%s", rank, way.c_str(), records, folder);
        if (how == report::How::killed)
            return say("no report: rank %u ended by %s%s%s", rank, way.c_str(), records, folder);
    } catch (std::exception const&) {  // no memory for the way
    }
    say("no report: rank %u has ended without MPI_Finalize%s%s", rank, records, folder);
}

}  // namespace sluice::plugin
