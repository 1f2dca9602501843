// SPDX-License-Identifier: BSD-3-Clause
/// What the environment says of the job that this process is a rank of.
#pragma once

#include <string>

namespace sluice::plugin {

/// The same for all ranks of a job on this node, unlike that of any other job at the same time: digits, letters and
/// dots.
std::string job_name();

/// The file that the ranks of this node write their records into. In `folder`, or where that is empty in a folder of
/// this user below TMPDIR (/tmp), made if it is not there. Empty where none can be made; `why` then says why not.
std::string record_path(std::string const& folder, std::string& why);

}  // namespace sluice::plugin
