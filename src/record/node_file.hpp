// SPDX-License-Identifier: BSD-3-Clause
/// Reads one file node-*.sluice in the state in which its writers left it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "record/record.hpp"

namespace sluice::record {

/// Returns a folder's node files, node-2 before node-10. Throws Error(invalid_argument) if the folder is unreadable.
std::vector<std::filesystem::path> node_files_of(std::filesystem::path const& folder);

class NodeFile {
  public:
    explicit NodeFile(std::filesystem::path const& path);

    /// Says why no record of the file can be used; empty if at least one can.
    std::string const& fault() const { return fault_; }
    std::uint64_t claimed() const { return claimed_; }
    /// The number of records that the file holds in full.
    std::uint64_t whole() const { return whole_; }

    /// Returns false if the file ends before the record does. The contents of the record are not trusted.
    bool read(std::uint64_t number, RankRecord& record);
    bool read_head(std::uint64_t number, RankHead& head);

  private:
    std::ifstream file_;
    std::string fault_;
    std::uint64_t claimed_ = 0;
    std::uint64_t whole_ = 0;
};

}  // namespace sluice::record
