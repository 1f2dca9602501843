// SPDX-License-Identifier: BSD-3-Clause
/// The file of a node that the ranks map to write their records into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "record/record.hpp"

namespace sluice::record {

/// The folder of this user's job records if no report folder is given: below TMPDIR (/tmp), one folder for each job. It
/// is removed when the job ends by MPI_Finalize; the folders of the latest jobs that ended otherwise are kept
/// (left_behind.hpp).
std::string folder_of_jobs();

/// One rank's record, in the file of its node or, if there can be no such file, in private memory.
class RecordFile {
  public:
    /// Maps `path`, creates it if it is missing, and claims the next record in it. Its blocks are allocated on the disk
    /// at once, because a mapped hole of a full disk would kill the program later. A file whose ranks have decided
    /// about their job belongs to an earlier job of the same name and is left unchanged: then `path` gets a number. If
    /// any of this fails, the record is kept in private memory, and `why()` gives the reason.
    explicit RecordFile(std::string path);
    RecordFile(RecordFile const&) = delete;
    RecordFile& operator=(RecordFile const&) = delete;
    /// Unmaps the file. Removes nothing.
    ~RecordFile();

    RankRecord& record() noexcept { return *record_; }
    NodeHeader& node() noexcept { return *node_; }
    /// True if the file did not exist before: this is the first rank of its job on this node.
    bool made_file() const noexcept { return made_; }
    bool in_file() const noexcept { return in_file_; }
    std::string const& why() const noexcept { return why_; }
    std::string const& path() const noexcept { return path_; }

  private:
    enum class Mapped {
        yes,
        no,             // why_ has the reason
        is_another_job  // the file belongs to another job of the same name
    };
    Mapped map_file();
    Mapped no_file(int error);
    void map_private();

    std::string path_;
    std::string why_;
    bool in_file_ = false;
    bool made_ = false;
    NodeHeader* node_ = nullptr;
    RankRecord* record_ = nullptr;
};

}  // namespace sluice::record
