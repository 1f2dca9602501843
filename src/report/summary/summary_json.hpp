// SPDX-License-Identifier: BSD-3-Clause
/// A Summary as JSON (report.json; docs/report.md lists its fields) and as bytes for the way up a tree.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns "collective", "completion", …
char const* name_of(record::Kind kind);
/// Returns "running", "finalizing", "ended", "exited", "aborted", …
char const* name_of(record::State state);

void to_json(nlohmann::json& out, Summary const& summary);
/// Throws nlohmann::json::exception if `in` is not a summary, Error(unsupported) if it has another format.
void from_json(nlohmann::json const& in, Summary& summary);

/// Returns the whole report.json, ending in a newline.
std::string to_text(Summary const& summary);
/// Throws Error(invalid_argument), which names `origin`, if the text is not a report.
Summary from_text(std::string const& text, std::string const& origin);

/// Writes the summary as CBOR.
std::vector<std::uint8_t> to_bytes(Summary const& summary);
/// Reads the summary from CBOR. Throws Error(invalid_argument).
Summary from_bytes(std::span<std::uint8_t const> bytes);

}  // namespace sluice::report
