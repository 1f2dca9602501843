// SPDX-License-Identifier: BSD-3-Clause
/// Finds the file of a program or library on this machine. Records and reports have its name and its mark, not its
/// folder, which may tell of its user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

class ProgramFiles {
  public:
    /// Looks at the files that the user named, at those that the processes have mapped, in the present folder, and
    /// where programs and libraries are searched.
    ProgramFiles(std::vector<std::string> const& named, std::vector<std::uint32_t> const& processes);

    /// The file with this mark whose name is `name`, or begins with it if records have cut it off; empty if it is not
    /// found.
    std::filesystem::path find(std::string_view name, std::uint64_t mark) const;

  private:
    std::vector<std::filesystem::path> files_;
    std::vector<std::filesystem::path> folders_;
};

}  // namespace sluice::cli
