// SPDX-License-Identifier: BSD-3-Clause
/// The file of a node that the ranks map to write their records into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "record/record.hpp"

namespace sluice::record {

/// Where jobs of this user leave their records when nobody named a folder: below TMPDIR (/tmp), a folder for each job,
/// removed when the job ends by MPI_Finalize; of jobs that did not, the last ones stay (left_behind.hpp).
std::string folder_of_jobs();

/// One rank's record, in the file of its node or, where there can be none, in private memory.
class RecordFile {
  public:
    /// Maps `path`, makes it where it is not there, and claims the next record in it. Its blocks are allocated on the
    /// disk at once, for a mapped hole of a full disk would kill the program later. A file whose ranks have decided
    /// about their job is an earlier job's of the same name, and stays as it is: then `path` gets a number. Where
    /// anything of this fails the record lies in private memory, and `why()` says so.
    explicit RecordFile(std::string path);
    RecordFile(RecordFile const&) = delete;
    RecordFile& operator=(RecordFile const&) = delete;
    /// Unmaps. Removes nothing.
    ~RecordFile();

    RankRecord& record() noexcept { return *record_; }
    NodeHeader& node() noexcept { return *node_; }
    /// The file was not there before: this is the first rank of its job on this node.
    bool made_file() const noexcept { return made_; }
    bool in_file() const noexcept { return in_file_; }
    std::string const& why() const noexcept { return why_; }
    std::string const& path() const noexcept { return path_; }

  private:
    bool map_file();
    void map_private();

    std::string path_;
    std::string why_;
    bool in_file_ = false;
    bool made_ = false;
    NodeHeader* node_ = nullptr;
    RankRecord* record_ = nullptr;
};

}  // namespace sluice::record
