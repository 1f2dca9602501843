// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/callers.hpp"

#include <link.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>

namespace sluice::plugin {

BindingsText g_bindings;

namespace {

bool in_bindings(std::uint64_t address) {
    for (int i = 0; i < g_bindings.count; ++i)
        if (address >= g_bindings.ranges[i].from && address < g_bindings.ranges[i].to) return true;
    return false;
}

/// A binding's frame has the same size at every call from the same place. So the unwinder, which takes microseconds, is
/// asked once for each return address, and afterwards the caller's address is read at that distance.
struct Known {
    std::atomic<std::uint64_t> binding{0};
    std::uint64_t distance = 0;  // from the frame to the word that holds the caller; 0: could not be found
};
constexpr std::size_t k_known = 512;
std::array<Known, k_known> known;
std::mutex adding;

struct Walk {
    std::uint64_t frame;
    bool passed_binding = false;
    std::uint64_t caller = 0;
    std::uint64_t caller_at = 0;
    std::uint64_t previous_cfa = 0;
};

/// Finds the first frame above the bindings. _Unwind_GetCFA of a frame is where its callee's frame ends, so the word
/// below the CFA of the last binding holds the address that it returns to.
_Unwind_Reason_Code look(_Unwind_Context* context, void* data) {
    auto& walk = *static_cast<Walk*>(data);
    std::uint64_t const address = _Unwind_GetIP(context);
    std::uint64_t const cfa = _Unwind_GetCFA(context);
    bool const binding = in_bindings(address);
    if (walk.passed_binding && !binding) {
        walk.caller = address;
        walk.caller_at = cfa - sizeof(void*);
        return _URC_END_OF_STACK;
    }
    walk.passed_binding = walk.passed_binding || binding;
    return _URC_NO_REASON;
}

}  // namespace

void find_bindings() {
    g_bindings.count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void*) {
            std::string_view const path = object->dlpi_name != nullptr ? object->dlpi_name : "";
            std::string_view const file = path.substr(path.rfind('/') + 1);
            bool const binding = file.starts_with("libmpi_mpifh") || file.starts_with("libmpi_usempi") ||
                                 file.starts_with("libmpichfort") || file.starts_with("libmpifort");
            for (int i = 0; binding && i < object->dlpi_phnum && g_bindings.count < BindingsText::k_ranges; ++i) {
                ElfW(Phdr) const& part = object->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
                std::uint64_t const from = object->dlpi_addr + part.p_vaddr;
                g_bindings.ranges[g_bindings.count++] = {from, from + part.p_memsz};
            }
            return 0;
        },
        nullptr);
}

void* caller_behind(void* binding, void* frame) noexcept {
    auto const key = reinterpret_cast<std::uint64_t>(binding);
    auto const base = reinterpret_cast<std::uint64_t>(frame);
    std::size_t at = (key * 0x9e37'79b9'7f4a'7c15ULL >> 40) % k_known;
    for (std::size_t probes = 0; probes < 16; ++probes, at = (at + 1) % k_known) {
        std::uint64_t const found = known[at].binding.load(std::memory_order_acquire);
        if (found == key)
            return known[at].distance == 0 ? binding : *reinterpret_cast<void**>(base + known[at].distance);
        if (found != 0) continue;
        std::lock_guard const lock(adding);
        if (known[at].binding.load(std::memory_order_relaxed) != 0) {
            --at;  // somebody was quicker: look at it again
            continue;
        }
        Walk walk{base};
        _Unwind_Backtrace(look, &walk);
        bool const sound = walk.caller != 0 && walk.caller_at > base && walk.caller_at - base < 65536 &&
                           *reinterpret_cast<std::uint64_t*>(walk.caller_at) == walk.caller;
        known[at].distance = sound ? walk.caller_at - base : 0;
        known[at].binding.store(key, std::memory_order_release);
        return sound ? reinterpret_cast<void*>(walk.caller) : binding;
    }
    return binding;
}

}  // namespace sluice::plugin
