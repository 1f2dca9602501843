// SPDX-License-Identifier: BSD-3-Clause
/// What the environment says of the job that this process is a rank of.
#pragma once

#include <string>
#include <vector>

#include "record/record_file.hpp"

namespace sluice::plugin {

/// The same for all ranks of a job on this node, unlike that of any other job at the same time: digits, letters and
/// dots.
std::string job_name();

/// Claims this rank's record in the file of its node: in the folder `report`, or if that is empty, or no file there can
/// be used, in the folder of this user below TMPDIR (/tmp). `lines` gets what the user should be told of it.
record::RecordFile claim_record(std::string const& report, std::vector<std::string>& lines);

}  // namespace sluice::plugin
