// SPDX-License-Identifier: BSD-3-Clause
/// The file of a node that the ranks map to write their records into.
#pragma once

#include <string>
#include <utility>

#include "kernel/files/folder.hpp"
#include "record/record.hpp"

namespace sluice::record {

/// One rank's record, in the file of its node or, if there is no room for it, in private memory.
class RecordFile {
  public:
    /// Shares nothing with other ranks.
    RecordFile();
    /// Claims the next record in the file `name` of `folder`, "node-….sluice", which the first rank of the node makes.
    /// If the file cannot be used because another job or another user took the name, it is the next one of the series
    /// node-…-2.sluice, node-…-3.sluice, …
    ///
    /// Ranks of a job find the same file. One that they use already is taken before one is made, and they make it in
    /// turn. Whatever becomes of other names meanwhile, a rank that finds its job's file uses it.
    ///
    /// A mapped file is one of this user alone (Folder::open_own), and its blocks are on the disk, because a file that
    /// is shortened, or a hole in a full disk, would kill the program. If there is no room for the record, the rank
    /// shares only the head. If nothing can be shared, `why()` says why.
    RecordFile(kernel::Folder const& folder, std::string const& name);
    RecordFile(RecordFile const&) = delete;
    RecordFile& operator=(RecordFile const&) = delete;
    RecordFile(RecordFile&& other) noexcept;
    RecordFile& operator=(RecordFile&&) = delete;
    /// Unmaps the file. Removes nothing.
    ~RecordFile();

    RankRecord& record() noexcept { return *record_; }
    NodeHeader& node() noexcept { return *node_; }
    NodeHeader const& node() const noexcept { return *node_; }
    /// The head of the next record in the file, after the last the first: the ranks of a node form a ring, in which
    /// each can watch one other. Maps a page of it, k_head_page bytes. Null if there is no other record in the file or
    /// it cannot be mapped. All ranks of the node must have claimed their records.
    RankHead* next_head() noexcept;
    /// True if the file did not exist before: this is the first rank of its job on this node.
    bool made_file() const noexcept { return made_; }
    /// True if the ranks of the node share the head of the file.
    bool shares_node() const noexcept { return shares_node_; }
    /// True if the record, too, is in the file.
    bool in_file() const noexcept { return in_file_; }
    /// False if the pages of the record are memory and not of a file on a disk.
    bool on_disk() const noexcept { return on_disk_; }
    /// Why the record is not in the file.
    std::string const& why() const noexcept { return why_; }
    std::string const& folder() const noexcept { return folder_; }
    std::string const& name() const noexcept { return name_; }
    std::string path() const { return folder_ + "/" + name_; }

    /// Removes the file, if it still has its name, and the folder, if it is then empty.
    void remove() const noexcept;

  private:
    enum class Claim {
        done,
        other_name,  ///< the next name may be free
        no_room,     ///< no name helps: there is no room for a file
    };
    Claim claim(kernel::Folder const& folder, std::string const& name, kernel::Folder::Missing missing);
    Claim claim_in(int file, off_t bytes, std::string const& name);
    Claim refuse(std::string const& name, std::string const& why);
    bool claim_existing(kernel::Folder const& folder, std::string const& name);
    void claim_record(int file);
    void map_private();

    std::string folder_;
    std::string name_;
    std::string why_;
    bool shares_node_ = false;
    bool in_file_ = false;
    bool on_disk_ = false;
    bool made_ = false;
    struct stat status_ {};
    NodeHeader* node_ = nullptr;
    RankRecord* record_ = nullptr;
    std::uint32_t number_ = 0;  // of the record in the file
    RankHead* next_head_ = nullptr;
};

}  // namespace sluice::record
