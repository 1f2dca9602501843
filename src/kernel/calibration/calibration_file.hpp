// SPDX-License-Identifier: BSD-3-Clause
/// The file that keeps a calibration: `sluice/calibration-KEY` in XDG_CACHE_HOME, or else in `.cache` of HOME.
#pragma once

#include <optional>
#include <string>

#include "kernel/calibration/calibration.hpp"

namespace sluice::kernel {

/// The key of this machine for an MPI ("Open MPI v4.1.4").
CalibrationKey calibration_key(std::string const& mpi);

/// The folder of the file; empty if neither variable names one. A program with another user's rights has none.
std::string calibration_folder();
/// "calibration-" and a number that belongs to the key.
std::string calibration_name(CalibrationKey const& key);

struct ReadCalibration {
    std::optional<Calibration> calibration;
    std::string why;  ///< of a file that is there and is not used: "FILE: …"; empty also if there is none
};
/// Uses a file of this user alone, in a folder of this user alone; follows no link.
ReadCalibration read_calibration(CalibrationKey const& key);

/// Writes a new file, which takes the name at once. Returns why that failed, or an empty text.
std::string write_calibration(CalibrationKey const& key, Calibration const& calibration);

}  // namespace sluice::kernel
