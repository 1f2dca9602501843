// SPDX-License-Identifier: BSD-3-Clause
#include "base/c_boundary.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice::base {

namespace {
// The only variable of the library that outlives a call. An error must be readable by the thread that got the code,
// even if no object was made (a context that failed), and without a lock: so it belongs to the thread.
thread_local std::array<char, 2001> last_error{};
}  // namespace

void keep_error_text(char const* text) noexcept {
    std::size_t const length = std::min(std::strlen(text), last_error.size() - 1);
    std::memcpy(last_error.data(), text, length);
    last_error[length] = '\0';
}

char const* last_error_text() noexcept {
    return last_error.data();
}

}  // namespace sluice::base
