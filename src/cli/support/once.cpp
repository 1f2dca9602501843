// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/once.hpp"

#include <unistd.h>

#include "base/text/printable.hpp"
#include "kernel/files/patient_write.hpp"
#include "kernel/job/once_a_node.hpp"
#include "kernel/launcher.hpp"

namespace sluice::cli {

void tell(std::string const& text) {
    kernel::write_patiently(STDERR_FILENO, "sluice: " + base::printable(text) + "\n", kernel::k_patience);
}

void complain(std::string const& text) {
    bool const among_others = kernel::rank_of_launcher() != nullptr;
    if (among_others && !kernel::is_first_to_say(text)) return;
    tell(text);
    if (among_others) usleep(500'000);  // ranks that are a little later find the name taken
}

}  // namespace sluice::cli
