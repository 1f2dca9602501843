// SPDX-License-Identifier: BSD-3-Clause
/// What the environment says of the job that this process is a rank of.
#pragma once

#include <string>
#include <vector>

#include "record/record_file.hpp"

namespace sluice::plugin {

/// Claims this rank's record in the file of its node: in the folder `report`, or if that is empty, or no file there can
/// be used, in the folder of this user below TMPDIR (/tmp). `lines` gets what the user should be told of it.
record::RecordFile claim_record(std::string const& report, std::vector<std::string>& lines);

}  // namespace sluice::plugin
