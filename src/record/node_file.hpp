// SPDX-License-Identifier: BSD-3-Clause
/// Reads one file node-*.sluice in the state in which its writers left it. Other users may have written it, or put
/// something else there under its name: it is opened if it is a regular file, without waiting, and nothing that it
/// claims is believed beyond its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/files/folder.hpp"
#include "record/record.hpp"

namespace sluice::record {

/// More than any node runs; a file that claims more records is read up to here.
inline constexpr std::uint64_t k_most_records = 16384;

/// Returns the names of a folder's node files, node-2 before node-10.
std::vector<std::string> node_files_in(kernel::Folder const& folder);

class NodeFile {
  public:
    NodeFile(kernel::Folder const& folder, std::string const& name);

    /// Says why no record of the file can be used; empty if at least one can.
    std::string const& fault() const { return fault_; }
    std::uint64_t claimed() const { return claimed_; }
    /// Ranks that share the file; more than `claimed` if some found no room for their record.
    std::uint64_t arrived() const { return arrived_; }
    /// The number of records that the file holds in full.
    std::uint64_t whole() const { return whole_; }
    /// The owner of the file; of use if there is no fault.
    std::uint32_t user() const { return opened_.status.st_uid; }

    /// Returns false if the file ends before the record does. The contents of the record are not trusted.
    bool read(std::uint64_t number, RankRecord& record) const;
    bool read_head(std::uint64_t number, RankHead& head) const;
    /// Maps k_head_page bytes to be read; null if it cannot.
    RankHead const* map_head(std::uint64_t number) const noexcept;

  private:
    bool read_at(std::uint64_t offset, void* object, std::size_t bytes) const;

    kernel::Opened opened_;
    std::string fault_;
    std::uint64_t claimed_ = 0;
    std::uint64_t arrived_ = 0;
    std::uint64_t whole_ = 0;
};

}  // namespace sluice::record
