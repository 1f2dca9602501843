// SPDX-License-Identifier: BSD-3-Clause
/// What the main thread writes down of a large message: numbers it has at hand, neither hashed nor looked up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

/// What the buffer is used for: the "communication type" of the context (Li et al. 2011, section 3.1).
enum class Kind : std::uint8_t { send, receive, collective_send, collective_receive, one_sided };

enum class What : std::uint8_t {
    begins,  ///< a message that uses the range begins
    ends     ///< the same message is complete: the range may be given back
};

constexpr std::size_t k_most_frames = 6;

/// Uses begin in the order of the program's calls, which is the order of the context. An end that is never written, or
/// is dropped, only makes the helper look at the range later.
struct Event {
    Time at{};
    Range range;
    std::array<std::uintptr_t, k_most_frames> frames{};  ///< return addresses, innermost first; 0 behind the last
    Kind kind = Kind::send;
    What what = What::begins;
    bool was_registered = true;  ///< the message found the range registered; told in `begins`
};

}  // namespace sluice::memory::registration
