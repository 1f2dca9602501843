// SPDX-License-Identifier: BSD-3-Clause
#include "engine/told_line.hpp"

#include <new>

#include "base/text/printable.hpp"
#include "kernel/files/standard_error.hpp"

namespace sluice::engine {

void tell_line(std::string const& line) {
    // In one piece, so that the lines of several ranks do not mix.
    kernel::put_on_standard_error("sluice: " + base::printable(line) + "\n");
}

void tell_that_it_is_in_use(char const* object, int rank) noexcept {
    try {
        tell_line("rank " + std::to_string(rank) + " destroys a " + object +
                  " while another thread is inside a call on it; its memory is kept");
    } catch (std::bad_alloc const&) {  // the line is all that is lost
    }
}

}  // namespace sluice::engine
