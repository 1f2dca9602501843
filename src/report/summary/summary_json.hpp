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

/// "collective", "completion", …
char const* name_of(record::Kind kind);
/// "running", "finalizing", "ended", "exited", "aborted"
char const* name_of(record::State state);

void to_json(nlohmann::json& out, Summary const& summary);
/// Throws nlohmann::json::exception if `in` is not a summary, Error(unsupported) if it has another format.
void from_json(nlohmann::json const& in, Summary& summary);

/// report.json in full, ending in a newline.
std::string to_text(Summary const& summary);
/// Throws an Error(invalid_argument) that names `origin`.
Summary from_text(std::string const& text, std::string const& origin);

/// CBOR.
std::vector<std::uint8_t> to_bytes(Summary const& summary);
/// Throws Error(invalid_argument).
Summary from_bytes(std::span<std::uint8_t const> bytes);

}  // namespace sluice::report
