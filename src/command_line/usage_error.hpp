// SPDX-License-Identifier: BSD-3-Clause
/// A mistake on the command line.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::command_line {

/// Its text is one line for standard error.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// "no `what` is called 'name'; did you mean 'nearest'?", or if no known name is near: "known are a, b".
UsageError unknown(std::string_view what, std::string_view name, std::span<std::string_view const> known);

}  // namespace sluice::command_line
