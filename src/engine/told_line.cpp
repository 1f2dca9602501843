// SPDX-License-Identifier: BSD-3-Clause
#include "engine/told_line.hpp"

#include <unistd.h>

#include "kernel/files/patient_write.hpp"

namespace sluice::engine {

void tell_line(std::string const& line) {
    std::string const whole = "sluice: " + line + "\n";
    // In one piece, so that the lines of several ranks do not mix. It is lost if standard error is closed.
    kernel::write_patiently(STDERR_FILENO, whole, kernel::k_patience);
}

}  // namespace sluice::engine
