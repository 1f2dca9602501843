// SPDX-License-Identifier: BSD-3-Clause
/// The name of the job that this process is a rank of, from its environment and its parents, without MPI.
#pragma once

#include <sys/types.h>

#include <string>

namespace sluice::kernel {

/// The same for all ranks of a job on this node, unlike that of any other job at the same time: digits, letters and
/// dots. The ranks of a program without a launcher are jobs of their own.
std::string job_name();

/// Number and start of a process: unlike those of any other since the machine started.
std::string process_name(pid_t pid);

/// The process of MPICH's launcher that started the ranks of this node; a shell may stand between. 0: none was found.
pid_t launcher_of_node();

/// A number as text, from which `text` cannot be read.
std::string hashed_name(std::string const& text);

}  // namespace sluice::kernel
