// SPDX-License-Identifier: BSD-3-Clause
/// The folders of this user's job records if no report folder is given: below TMPDIR (/tmp), one folder for each job. A
/// job's folder is removed when the job ends by MPI_Finalize; those of the latest jobs that ended otherwise are kept
/// (left_behind.hpp).
///
///     TMPDIR/sluice-UID, else TMPDIR/sluice-UID-2, …     the first that no other user has taken or can write into
///     the same in /tmp, then in /dev/shm                 if there is no TMPDIR, or no room in it
///
/// All processes of the user find the same one: while there is one, none makes another, and they make it in turn. There
/// are two only if another user gives a taken name free and holds the lock of TMPDIR at the right moments: then ranks
/// of a job do not find each other's records, and the job is watched and not served.
#pragma once

#include <string>
#include <vector>

#include "kernel/files/folder.hpp"

namespace sluice::record {

struct JobsFolder {
    kernel::Folder folder;  ///< not open if none can be made; it then says why the first name cannot be used
    std::string why_other;  ///< "PATH: reason" if the folder does not have the first name; else empty
};

/// The folders in which that of jobs may be, as absolute paths: TMPDIR, then /tmp and /dev/shm, each once.
std::vector<std::string> temporary_folders();

/// Opens the folder of jobs in a temporary folder; makes it if there is none.
JobsFolder open_folder_of_jobs(std::string const& temporary);

/// The paths of this user's folders with these names that exist in a temporary folder; at least the first name, also if
/// it does not exist.
std::vector<std::string> folders_of_jobs(std::string const& temporary);

}  // namespace sluice::record
