// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/callers/callers.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "plugin/binding/callers/python.hpp"

namespace sluice::plugin {

namespace {

using Kind = WrappingCode::Kind;

constexpr std::uint64_t k_most_distance = 1 << 20;

constexpr std::array<std::string_view, 7> k_bindings{"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort",
                                                     "libmpi_cxx",   "libmpichcxx",   "libmpicxx"};
constexpr std::array<std::string_view, 20> k_libraries{
    "libpetsc",  "libslepc",     "libboost_mpi", "libhdf5",     "libnetcdf",    "libpnetcdf", "libadios2",
    "libfftw3",  "libscalapack", "libHYPRE",     "libsuperlu_", "libsmumps",    "libdmumps",  "libcmumps",
    "libzmumps", "libptscotch",  "libparmetis",  "libp4est",    "libtrilinos_", "libepetra"};

bool is_mpi4py(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1).starts_with("MPI.") && path.find("/mpi4py/") != path.npos;
}

Kind kind_of_file(std::string_view path) noexcept {
    std::string_view const file = path.substr(path.rfind('/') + 1);
    auto const begins = [file](std::string_view name) { return file.starts_with(name); };
    if (std::any_of(k_bindings.begin(), k_bindings.end(), begins)) return Kind::binding;
    if (std::any_of(k_libraries.begin(), k_libraries.end(), begins)) return Kind::library;
    bool const is_petsc4py = begins("PETSc.") && path.find("/petsc4py/") != path.npos;
    if (is_mpi4py(path) || is_petsc4py || begins("libffi.")) return Kind::glue;
    return begins("libc.so") || begins("libpthread") ? Kind::system : Kind::none;
}

struct Walk {
    std::uint64_t base;
    std::uint64_t from;  ///< the return address whose caller is asked for
    bool only_bindings;
    bool passed = false;
    WrappingCode::Way way;
};

/// Finds the first frame above the code that is passed. _Unwind_GetCFA of a frame is where its callee's frame ends, so
/// the word below it holds the address that the callee returns to.
_Unwind_Reason_Code look(_Unwind_Context* context, void* data) {
    auto& walk = *static_cast<Walk*>(data);
    std::uint64_t const address = _Unwind_GetIP(context);
    Kind const kind = g_plugin.wrapping.kind_of(address);
    if (walk.passed && (walk.only_bindings ? kind != Kind::binding : kind == Kind::none)) {
        walk.way = {_Unwind_GetCFA(context) - sizeof(void*) - walk.base, address};
        return _URC_END_OF_STACK;
    }
    walk.passed = walk.passed || address == walk.from;
    return _URC_NO_REASON;
}

std::uint64_t word_at(std::uint64_t base, std::uint64_t distance) noexcept {
    return *reinterpret_cast<std::uint64_t const*>(base + distance);
}

/// Asks the unwinder. Nothing if the stack does not hold the address that it finds.
WrappingCode::Way way_from(std::uint64_t base, std::uint64_t from, bool only_bindings) {
    Walk walk{base, from, only_bindings, false, {}};
    _Unwind_Backtrace(look, &walk);
    bool const sound = walk.way.caller != 0 && walk.way.distance < k_most_distance &&
                       word_at(base, walk.way.distance) == walk.way.caller;
    return sound ? walk.way : WrappingCode::Way{};
}

struct Stack {
    std::uint64_t from = 0, to = 0;
};

/// Of this thread. Empty where it is not known.
Stack stack_of_thread() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
    void* from = nullptr;
    std::size_t bytes = 0;
    bool const known = pthread_attr_getstack(&attributes, &from, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    auto const begin = reinterpret_cast<std::uint64_t>(from);
    return known ? Stack{begin, begin + bytes} : Stack{};
}

/// Bytes from `base` to the end of the stack that it lies on; 0 on stacks that the program has made itself.
std::uint64_t left_on_stack(std::uint64_t base) noexcept {
    static thread_local Stack const stack __attribute__((tls_model("initial-exec"))) = stack_of_thread();
    return base >= stack.from && base < stack.to ? stack.to - base : 0;
}

void* keep(SeenThrough const& place) noexcept {
    std::uint64_t const key = place.caller * base::k_golden ^ place.via;
    SeenThrough const* const kept =
        g_plugin.wrapping.seen_through.find_or_add(key, [&] { return std::optional(place); });
    return const_cast<SeenThrough*>(kept);
}

void* program_at(std::uint64_t caller, std::uint64_t via, Kind kind) noexcept {
    auto* const direct = reinterpret_cast<void*>(via);
    SeenThrough place{caller, via};
    if (is_interpreter(caller)) {
        void const* const instruction = python_instruction();
        if (instruction == nullptr) return direct;
        place = {0, reinterpret_cast<std::uint64_t>(instruction)};
    } else if (kind == Kind::glue) {
        return direct;
    }
    void* const kept = keep(place);
    return kept != nullptr ? kept : direct;
}

/// A stack that is less deep than when a way was found ends before that place.
void* caller_behind_library(Kind kind, std::uint64_t via, std::uint64_t base) noexcept {
    auto* const direct = reinterpret_cast<void*>(via);
    std::uint64_t const left = left_on_stack(base);
    if (left == 0) {
        std::uint64_t const caller = way_from(base, via, false).caller;
        return caller != 0 ? program_at(caller, via, kind) : direct;
    }
    for (std::uint64_t i = 1; i <= WrappingCode::k_ways; ++i) {
        std::uint64_t const key = i << 48 | via;
        WrappingCode::Way const* const way =
            g_plugin.wrapping.ways.find_or_add(key, [&] { return std::optional(way_from(base, via, false)); });
        if (way == nullptr || way->caller == 0) break;
        if (way->distance + sizeof(std::uint64_t) <= left && word_at(base, way->distance) == way->caller)
            return program_at(way->caller, via, kind);
    }
    return direct;
}

void add_range(WrappingCode& code, WrappingCode::Range const& range) noexcept {
    int const count = code.count.load(std::memory_order_relaxed);
    if (count == WrappingCode::k_ranges || code.kind_of(range.from) != Kind::none) return;
    code.ranges[count] = range;
    code.count.store(count + 1, std::memory_order_release);
    std::uint64_t const lowest = count == 0 ? range.from : std::min(code.lowest.load(), range.from);
    code.extent = std::max(code.lowest + code.extent, range.to) - lowest;
    code.lowest = lowest;
}

void add_object(WrappingCode& code, dl_phdr_info const& object) noexcept {
    std::string_view const path = object.dlpi_name != nullptr ? object.dlpi_name : "";
    Kind const kind = kind_of_file(path);
    if (is_mpi4py(path)) see_mpi4py(path);
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        ElfW(Phdr) const& part = object.dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        std::uint64_t const from = object.dlpi_addr + part.p_vaddr;
        std::uint64_t const to = from + part.p_memsz;
        see_interpreter(from, to);
        if (kind != Kind::none) add_range(code, {from, to, kind});
    }
}

}  // namespace

void find_wrapping_code() noexcept {
    find_python();
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void*) {
            add_object(g_plugin.wrapping, *object);
            return 0;
        },
        nullptr);
}

void find_new_wrapping_code(void const* caller) noexcept {
    Dl_info info{};
    bool const known = seen_through(caller) != nullptr ||
                       g_plugin.wrapping.kind_of(reinterpret_cast<std::uint64_t>(caller)) != Kind::none;
    if (known || dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return;
    if (kind_of_file(info.dli_fname) != Kind::none) find_wrapping_code();
}

void* caller_behind(Kind kind, void* returns_to, void* frame) noexcept {
    auto const base = reinterpret_cast<std::uint64_t>(frame);
    auto via = reinterpret_cast<std::uint64_t>(returns_to);
    if (kind == Kind::binding) {
        std::uint64_t const* const distance = g_plugin.wrapping.distances.find_or_add(
            via, [&] { return std::optional(way_from(base, via, true).distance); });
        if (distance == nullptr || *distance == 0) return returns_to;
        via = word_at(base, *distance);
        kind = g_plugin.wrapping.kind_of(via);
        if (kind == Kind::none) return reinterpret_cast<void*>(via);
    }
    return caller_behind_library(kind, via, base);
}

SeenThrough const* seen_through(void const* caller) noexcept {
    auto const& table = g_plugin.wrapping.seen_through;
    auto const at = reinterpret_cast<std::uintptr_t>(caller);
    auto const begin = reinterpret_cast<std::uintptr_t>(&table);
    return at >= begin && at < begin + sizeof table ? static_cast<SeenThrough const*>(caller) : nullptr;
}

}  // namespace sluice::plugin
