// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/gate.hpp"

#include <unwind.h>

#include <cstdint>

// From the linker: where this module begins, and where its code ends.
extern "C" [[gnu::visibility("hidden")]] char const __ehdr_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" [[gnu::visibility("hidden")]] char const etext;

namespace sluice::plugin {

constinit thread_local Inside* t_inside = nullptr;

namespace {

bool is_in_this_module(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) &&
           address < reinterpret_cast<std::uintptr_t>(&etext);
}

/// The search for the frame that an address is in, from the innermost frame on.
struct FrameSearch {
    std::uintptr_t address;
    bool found = false;
    bool is_ours = false;  // the frame belongs to a function of this module
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
    FrameSearch& search = *static_cast<FrameSearch*>(argument);
    // The context is that of a frame with the stack pointer which the frame below has left: the frame's lower end.
    std::uintptr_t const lower_end = _Unwind_GetCFA(context);
    if (lower_end > search.address) {
        search.found = true;
        return _URC_END_OF_STACK;
    }
    search.is_ours = is_in_this_module(_Unwind_GetIP(context));
    return _URC_NO_REASON;
}

}  // namespace

bool frame_is_open() noexcept {
    FrameSearch search{reinterpret_cast<std::uintptr_t>(t_inside)};
    _Unwind_Backtrace(look_at_frame, &search);
    return !search.found || search.is_ours;
}

}  // namespace sluice::plugin
