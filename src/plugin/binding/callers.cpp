// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/callers.hpp"

#include <link.h>
#include <unwind.h>

#include <optional>
#include <string_view>

namespace sluice::plugin {

namespace {

bool in_bindings(std::uint64_t address) {
    BindingsText const& bindings = g_plugin.bindings;
    for (int i = 0; i < bindings.count; ++i)
        if (address >= bindings.ranges[i].from && address < bindings.ranges[i].to) return true;
    return false;
}

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

/// Asks the unwinder; 0 if the stack does not hold the address that it finds.
std::optional<std::uint64_t> distance_from(std::uint64_t base) {
    Walk walk{base};
    _Unwind_Backtrace(look, &walk);
    bool const sound = walk.caller != 0 && walk.caller_at > base && walk.caller_at - base < 65536 &&
                       *reinterpret_cast<std::uint64_t*>(walk.caller_at) == walk.caller;
    return sound ? walk.caller_at - base : 0;
}

}  // namespace

void find_bindings() {
    g_plugin.bindings.count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void*) {
            std::string_view const path = object->dlpi_name != nullptr ? object->dlpi_name : "";
            std::string_view const file = path.substr(path.rfind('/') + 1);
            bool const binding = file.starts_with("libmpi_mpifh") || file.starts_with("libmpi_usempi") ||
                                 file.starts_with("libmpichfort") || file.starts_with("libmpifort");
            BindingsText& bindings = g_plugin.bindings;
            for (int i = 0; binding && i < object->dlpi_phnum && bindings.count < BindingsText::k_ranges; ++i) {
                ElfW(Phdr) const& part = object->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
                std::uint64_t const from = object->dlpi_addr + part.p_vaddr;
                bindings.ranges[bindings.count++] = {from, from + part.p_memsz};
            }
            return 0;
        },
        nullptr);
}

namespace {

/// MPI_Init is called before anything else is known; later, libraries may have come that the program has opened.
[[gnu::constructor]] void find_those_linked() noexcept {
    find_bindings();
}

}  // namespace

void* caller_behind(void* binding, void* frame) noexcept {
    auto const base = reinterpret_cast<std::uint64_t>(frame);
    std::uint64_t const* const distance = g_plugin.bindings.distances.find_or_add(
        reinterpret_cast<std::uint64_t>(binding), [base] { return distance_from(base); });
    if (distance == nullptr || *distance == 0) return binding;
    return *reinterpret_cast<void**>(base + *distance);
}

}  // namespace sluice::plugin
