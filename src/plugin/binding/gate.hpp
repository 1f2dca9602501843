// SPDX-License-Identifier: BSD-3-Clause
/// Whether a wrapper acts or hands the call on at once.
///
/// A call comes in several times: a program's MPI_Send may reach PMPI_Send through another tool, Open MPI's Fortran
/// enters by PMPI_X, MPICH's by MPI_X, and MPI calls itself. The first entry of a thread acts; the deeper ones pass.
///
///     higher addresses   | main | … | wrapper: Inside { mark } | MPI | error handler ── longjmp ──> main
///                                     ^ t_inside                 here: deeper, and the mark is whole
///
/// An error handler of the program may leave MPI by longjmp, and then nothing tells that the entry is over. So an entry
/// is known by its place on the stack: a later call from the same height or above shows that it has gone, and so does a
/// deeper one that finds the mark overwritten by frames that took its place. Frames may leave the mark as it was; so
/// calls that other ranks have part in, for which all ranks must find the same, unwind the stack as well. The entry may
/// have been on a stack of its own, of a fiber, which is gone: far away its memory is asked for first.
///
/// A function of the program that MPI calls may make such a call too, and another member of the communicator makes its
/// part of it outside. So where the program itself makes it, it acts inside the first entry; those of MPI and of the
/// next tool pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

/// While it lives, MPI calls of this thread pass: they are our own, or MPI's. On the stack of the wrapper.
class Inside {
  public:
    /// `outer`: the entry that this one is inside, which is the thread's again when this one ends.
    inline explicit Inside(Inside* outer = nullptr) noexcept;
    Inside(Inside const&) = delete;
    Inside& operator=(Inside const&) = delete;
    inline ~Inside();
    /// Seen from a frame at `here`: false if its frame was left without its destructor.
    bool is_open(void const* here) const noexcept;

  private:
    bool is_readable() const noexcept;
    /// Unlike what other frames leave on the stack.
    std::uint64_t mark() const noexcept { return reinterpret_cast<std::uintptr_t>(this) ^ 0x736c'7569'6365'2d31ULL; }
    // Volatile: it is read after the object has gone.
    std::uint64_t volatile mark_;
    Inside* outer_;
};

/// The entry of this thread that acts; null if there is none. Preloaded at the start of a program, so thread-local
/// storage is at a fixed place.
extern constinit thread_local Inside* t_inside __attribute__((tls_model("initial-exec")));

inline Inside::Inside(Inside* outer) noexcept : mark_(mark()), outer_(outer) {
    t_inside = this;
}
inline Inside::~Inside() {
    mark_ = 0;
    if (t_inside == this) t_inside = outer_;
}

/// This thread is in a call that acts, whose frame is above the caller's.
[[gnu::always_inline]] inline bool is_inside() noexcept {
    return __builtin_expect(t_inside != nullptr, 0) && t_inside->is_open(__builtin_frame_address(0));
}

/// Whether the frame that t_inside is in belongs to a wrapper, by the unwinder; true if it cannot tell. Takes
/// microseconds.
bool frame_is_open() noexcept;

/// The paths of the MPI libraries that are loaded.
std::vector<std::string> loaded_mpis();

/// The next tool's function of this name, or that of the one MPI that is loaded; null if there is none.
void* function_below(char const* name);

/// Looks for what lies below us; says once on standard error why we stand aside, if we do. Nothing is said in a rank of
/// another job than the one that `sluice run` stands in, which has the preload by inheritance.
void locate_below();

/// Functions of the next tool or of libmpi; found at the first call, for MPI may be loaded late. What nothing has
/// returns an error.
inline Below const& below() {
    if (!g_plugin.located.load(std::memory_order_acquire)) locate_below();
    return g_plugin.below;
}

/// MPI was found, and is the one that this plugin was built for.
[[gnu::always_inline]] inline bool acts() {
    if (!g_plugin.located.load(std::memory_order_acquire)) locate_below();
    return g_plugin.acting;
}

/// In the functions that begin and end a job, which all ranks call together.
[[gnu::always_inline]] inline bool stands_below() {
    return !acts() || (is_inside() && frame_is_open());
}

/// The job that a wrapper acts for; null if it hands the call on.
[[gnu::always_inline]] inline Job* acting_job() {
    return is_inside() ? nullptr : g_plugin.watched.load(std::memory_order_acquire);
}

/// What a wrapper does of a function that several ranks call together.
struct ActingOfMany {
    Job* job;       ///< null: it hands the call on
    Inside* outer;  ///< the entry that it is inside
};
/// The same for a call from inside another one. `returns_to`: the return address of the exported function.
ActingOfMany acting_inside(void const* returns_to) noexcept;
[[gnu::always_inline]] inline ActingOfMany acting_of_many(void const* returns_to) {
    if (is_inside()) [[unlikely]]
        return acting_inside(returns_to);
    return {g_plugin.served.load(std::memory_order_acquire), nullptr};
}

}  // namespace sluice::plugin
