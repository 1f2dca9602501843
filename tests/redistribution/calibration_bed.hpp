// SPDX-License-Identifier: BSD-3-Clause
/// A cache folder on rank 0 with a file of its own as this machine's calibration; the other ranks have an empty one, as
/// ranks of another node have. It must exist before the process first chooses.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernel/calibration/calibration_file.hpp"
#include "mpi/library_name.hpp"

namespace sluice::tests {

class CalibrationBed {
  public:
    CalibrationBed(int rank, std::string const& text) {
        std::string pattern = std::filesystem::temp_directory_path() / "sluice-cache-XXXXXX";
        cache_ = mkdtemp(pattern.data());
        setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
        if (rank != 0) return;
        std::string const folder = kernel::calibration_folder();
        std::filesystem::create_directory(folder);
        std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
        std::ofstream(folder + "/" + kernel::calibration_name(key())) << text;
    }
    CalibrationBed(CalibrationBed const&) = delete;
    CalibrationBed& operator=(CalibrationBed const&) = delete;
    ~CalibrationBed() { std::filesystem::remove_all(cache_); }

    static kernel::CalibrationKey key() { return kernel::calibration_key(mpi::library_name()); }

  private:
    std::string cache_;
};

}  // namespace sluice::tests
