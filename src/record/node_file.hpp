// SPDX-License-Identifier: BSD-3-Clause
/// One file node-*.sluice, read as whoever wrote it left it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "record/record.hpp"

namespace sluice::record {

/// Those of a folder, node-2 before node-10. Throws Error(invalid_argument) where the folder cannot be read.
std::vector<std::filesystem::path> node_files_of(std::filesystem::path const& folder);

class NodeFile {
  public:
    explicit NodeFile(std::filesystem::path const& path);

    /// Why nothing of it can be used; empty where something can.
    std::string const& fault() const { return fault_; }
    std::uint64_t claimed() const { return claimed_; }
    /// Records that the file holds in full.
    std::uint64_t whole() const { return whole_; }

    /// False where the file ends before. Trusts nothing of what it reads.
    bool read(std::uint64_t number, RankRecord& record);
    bool read_head(std::uint64_t number, RankHead& head);

  private:
    std::ifstream file_;
    std::string fault_;
    std::uint64_t claimed_ = 0;
    std::uint64_t whole_ = 0;
};

}  // namespace sluice::record
