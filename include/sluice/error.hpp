// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The one exception of the library. Its text names the ranks and gives the numbers: how much was requested, how much
/// there is.
#pragma once

#include <stdexcept>
#include <string>

#include "sluice/export.h"

namespace sluice {

/// The kinds of errors that a caller can act on. The C interface returns the same values.
enum class ErrorCode : int {
    success = 0,
    invalid_argument = 1,  ///< the caller's input is wrong; nothing was changed
    out_of_memory = 2,     ///< an allocation or a lease failed before anything was changed
    mpi = 3,               ///< an MPI call returned an error code
    unsupported = 4,       ///< this build or this machine cannot do what was requested
    internal = 5,          ///< the library has a defect
};

/// What the library throws. Unless a function says otherwise, collective functions throw the same error on all ranks
/// of their context, so that all ranks can go on together.
class SLUICE_API Error : public std::runtime_error {
  public:
    /// @param code the kind of error
    /// @param what names the ranks and gives the numbers
    Error(ErrorCode code, std::string const& what) : std::runtime_error(what), code_(code) {}
    /// The kind of error; what() has the text.
    ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

}  // namespace sluice
