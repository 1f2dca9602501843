// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what reads report.json, and all that shows a report which was read.
#include <cstdint>
#include <sstream>
#include <string>

#include "report/records.hpp"
#include "report/show/comparison.hpp"
#include "report/show/text.hpp"
#include "report/show/trace.hpp"
#include "report/summary/summary_json.hpp"
#include "seeds.hpp"
#include "sluice/error.hpp"

namespace sluice::fuzz {

std::vector<std::string> seeds() {
    std::vector<std::string> texts{"{}", R"({"what":"Sluice report","format":3})"};
    for (report::Story const story : {report::Story::healthy, report::Story::flooded}) {
        report::RecordPointer const record = report::make_record(0, 1, story);
        // A short history, so that the text is short and most bytes of it are names and numbers.
        record->head.history = 4;
        record->head.recent = 0;
        record->head.events = 2;
        texts.push_back(report::to_text(report::summary_of(*record, {report::k_names, 0, {}, 0, 0})));
    }
    return texts;
}

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace sluice;
    try {
        report::Summary const summary = report::from_text({reinterpret_cast<char const*>(data), size}, "report.json");
        report::to_screen(summary);
        report::to_screen(summary, summary);
        std::ostringstream trace;
        report::write_trace(summary, trace);
        report::from_text(report::to_text(summary), "report.json");
    } catch (Error const&) {  // as it should for most texts
    }
    return 0;
}
