// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The one exception of the library. Its text carries the numbers: who, how much was asked, how much there is.
#pragma once

#include <stdexcept>
#include <string>

namespace sluice {

/// What went wrong, in the few kinds a caller can act on. The C interface returns the same values.
enum class ErrorCode : int {
    success = 0,
    invalid_argument = 1,  ///< the caller's input; nothing was changed
    out_of_memory = 2,     ///< an allocation or a lease failed before anything was changed
    mpi = 3,               ///< an MPI call returned an error code
    unsupported = 4,       ///< this build or this machine cannot do what was asked
    internal = 5,          ///< a defect of the library
};

class Error : public std::runtime_error {
  public:
    Error(ErrorCode code, std::string const& what) : std::runtime_error(what), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

}  // namespace sluice
