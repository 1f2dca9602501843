// SPDX-License-Identifier: BSD-3-Clause
/// Summaries of jobs that never ran, on one node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/advice/advice.hpp"
#include "report/records.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

inline Summary job(std::uint32_t size, Story story, std::uint64_t limit = std::uint64_t{2} << 30) {
    Summary whole;
    NodeSum node;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        RecordPointer const record = make_record(rank, size, story);
        record->head.memory_limit = limit;
        if (record->head.state == record::State::running) record->head.state = record::State::gone;
        merge(whole, summary_of(*record, {k_names, 12'000'000, {}, 0, 0}));
        add_rank(node, *record);
    }
    add_node(whole, node);
    return whole;
}

inline std::string all_advice(Summary const& summary) {
    std::string all;
    for (std::string const& line : advice_for(summary))
        all += line + "\n";
    return all;
}

inline SiteSum& site_of(Summary& summary, std::string_view function) {
    return *std::find_if(summary.sites.begin(), summary.sites.end(),
                         [function](SiteSum const& site) { return site.function == function; });
}

}  // namespace sluice::report
