// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/gate.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
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

[[gnu::no_sanitize_address]] bool Inside::is_open(void const* here) const noexcept {
    // So near is the same stack: a stack of a fiber that calls MPI is larger.
    constexpr std::intptr_t k_near = 16384;
    auto const distance = reinterpret_cast<std::intptr_t>(this) - reinterpret_cast<std::intptr_t>(here);
    return distance > 0 && (distance < k_near || is_readable()) && mark_ == mark();
}

/// The stack that it was on may be gone, or closed. A tenth of a microsecond: the kernel reads the mask before it
/// refuses what is to be done with it.
bool Inside::is_readable() const noexcept {
    constexpr int k_nothing_to_do = -1;
    constexpr std::size_t k_mask_bytes = 8;
    int const error = errno;
    bool const readable =
        syscall(SYS_rt_sigprocmask, k_nothing_to_do, this, nullptr, k_mask_bytes) == 0 || errno != EFAULT;
    errno = error;
    return readable;
}

bool frame_is_open() noexcept {
    FrameSearch search{reinterpret_cast<std::uintptr_t>(t_inside)};
    _Unwind_Backtrace(look_at_frame, &search);
    return !search.found || search.is_ours;
}

}  // namespace sluice::plugin
