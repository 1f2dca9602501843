// SPDX-License-Identifier: BSD-3-Clause
/// The name of the job that this process is a rank of, from its environment and its parents, without MPI.
#pragma once

#include <string>

namespace sluice::kernel {

/// The same for all ranks of a job on this node, unlike that of any other job at the same time: digits, letters and
/// dots. The ranks of a program without a launcher are jobs of their own.
std::string job_name();

/// A number as text, from which `text` cannot be read.
std::string hashed_name(std::string const& text);

}  // namespace sluice::kernel
