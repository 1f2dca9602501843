// SPDX-License-Identifier: BSD-3-Clause
/// Which pages of the program may wait for a message: those that hold nothing but the message's buffer and memory that
/// is not used.
///
///     buffer of the receive           |■■■■|■■■■|■■■□|        all of it belongs to the receive until its call returns
///     block from the pages library    |■■■■|■■■■|■■··|        ·· was not asked for: it is not used
///     other data of the program       |■■■■|■■■■|■■xx|        xx may be read or written by a request that is still
///                                                             active, inside MPI, where waiting would block for ever:
///                                                             only while no request is
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pages/pages.hpp"

namespace sluice::plugin {

/// Bytes that a message of `bytes` brings into a buffer with room for `room`.
struct Landing {
    std::byte* buffer;
    std::uint64_t bytes;
    std::uint64_t room;
};

/// A range of whole pages.
struct PageRange {
    std::byte* begin;
    std::size_t bytes;
};

/// The pages that a message lands in; nothing if other data lie in them. `library`: null if it is not loaded.
/// `none_active`: no request of the program can be active in other data.
std::optional<PageRange> pages_of(Landing const& landing, pages::Interface const* library, bool none_active) noexcept;

/// The pages are on the stack of this thread, and it is not the first one: libc gives such a stack back, or to another
/// thread, without a word when the thread ends.
bool end_with_thread(PageRange const& range) noexcept;

}  // namespace sluice::plugin
