// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/gate.hpp"

#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

/// Where a loaded object lies, from its first to its last segment.
struct Extent {
    std::uintptr_t from = 0, to = 0;

    bool has(std::uintptr_t address) const noexcept { return address >= from && address < to; }
};

Extent extent_of(dl_phdr_info const& object) noexcept {
    Extent extent{UINTPTR_MAX, 0};
    for (ElfW(Phdr) const& part : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
        if (part.p_type != PT_LOAD) continue;
        std::uintptr_t const begin = object.dlpi_addr + part.p_vaddr;
        extent.from = std::min(extent.from, begin);
        extent.to = std::max(extent.to, begin + part.p_memsz);
    }
    return extent;
}

/// Libmpi, or a tool between it and us.
bool has_function_below(Extent const& extent) noexcept {
    static_assert(sizeof(Below) % sizeof(void*) == 0);
    auto const* const functions = reinterpret_cast<std::uintptr_t const*>(&g_plugin.below);
    return std::any_of(functions, functions + sizeof(Below) / sizeof(void*),
                       [&](std::uintptr_t function) { return extent.has(function); });
}

/// A component of Open MPI that is a library by itself.
bool is_component(char const* path) noexcept {
    std::string_view const text(path != nullptr ? path : "");
    return text.substr(text.rfind('/') + 1).starts_with("mca_");
}

/// The object that an address is in.
struct ObjectSearch {
    std::uintptr_t address;
    bool is_of_mpi = false;
};

int look_at_object(dl_phdr_info* object, std::size_t, void* argument) {
    ObjectSearch& search = *static_cast<ObjectSearch*>(argument);
    Extent const extent = extent_of(*object);
    if (!extent.has(search.address)) return 0;
    search.is_of_mpi = has_function_below(extent) || is_component(object->dlpi_name);
    return 1;
}

/// Code of MPI, or of the next tool.
bool is_of_mpi(std::uintptr_t address) noexcept {
    ObjectSearch search{address};
    dl_iterate_phdr(look_at_object, &search);
    return search.is_of_mpi;
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

ActingOfMany acting_inside(void const* returns_to) noexcept {
    bool const nested = frame_is_open();
    if (nested && is_of_mpi(reinterpret_cast<std::uintptr_t>(returns_to))) return {nullptr, nullptr};
    return {g_plugin.served.load(std::memory_order_acquire), nested ? t_inside : nullptr};
}

}  // namespace sluice::plugin
