// SPDX-License-Identifier: BSD-3-Clause
/// How long a real registrar took.
#pragma once

#include <chrono>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

class Stopwatch {
  public:
    Time elapsed() const noexcept {
        return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - begin_);
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace sluice::memory::registration
