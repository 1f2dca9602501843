// SPDX-License-Identifier: BSD-3-Clause
/// The functions that the plugin exports. The process may use another MPI than the one that the plugin was built for:
/// then they pass calls on, whose arguments may be wider than their types here, as are Open MPI's handles for MPICH's
/// plugin. So an argument comes, and is passed on, as all of its register or of its place on the stack, and becomes
/// what it is for this MPI only where the plugin acts.
///
///     program ── MPI_X(word, word, …) ── stands aside ── pass_on(word, word, …) ──> any MPI
///                        └───────────── acts ── Argument: int, pointer, … ──> this MPI
///
/// Both are the same for the processor wherever each argument has a place of 64 bits, also a short one: in the calling
/// conventions of Linux for processors of 64 bits, and without floating-point arguments, which no function of MPI has.
/// With 32 bits, the types are those of mpi.h.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sluice::plugin {

/// What the exported function has in the place of a parameter of type T.
template <class T>
using Passed = std::conditional_t<sizeof(void*) == sizeof(std::uint64_t), std::uint64_t, std::decay_t<T>>;

/// An argument on its way to a function of this MPI, whose parameter says its type.
template <class P>
struct Argument {
    P passed;

    template <class T>
    [[gnu::always_inline]] operator T() const noexcept {  // NOLINT(google-explicit-constructor)
        if constexpr (std::is_same_v<T, P>)
            return passed;
        else if constexpr (std::is_pointer_v<T>)
            return reinterpret_cast<T>(passed);
        else
            return static_cast<T>(passed);
    }
};
template <class P>
Argument(P) -> Argument<P>;

/// Calls `function`, which may be any MPI's.
template <class Function, class... P>
[[gnu::always_inline]] inline int pass_on(Function* function, P... passed) {
    void* const untyped = reinterpret_cast<void*>(function);
    return reinterpret_cast<int (*)(P...)>(untyped)(passed...);
}

}  // namespace sluice::plugin
