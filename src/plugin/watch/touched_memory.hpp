// SPDX-License-Identifier: BSD-3-Clause
/// Which memory of the program a call of MPI may read or write, as far as its arguments tell.
///
///     wrapper ── TouchedBy: not computed yet ──> Service::before ── fill ──> TouchedMemory: ranges, or `anything`
///
/// A range may be longer than what the call touches (a type with gaps, blocks that lie apart), never shorter. Nothing
/// here allocates, and MPI is not asked: it has not accepted the arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice::plugin {

struct TouchedRange {
    std::uintptr_t from;
    std::uint64_t bytes;
    bool writes;         ///< and may read
    std::uint64_t data;  ///< bytes of a message in it, at most `bytes`
};

class TouchedMemory {
  public:
    /// No call has more arguments that are pointers.
    static constexpr std::size_t k_most = 16;

    enum class Wanted { all, messages };
    /// `messages`: not what else a call touches, such as lists of counts and statuses.
    explicit TouchedMemory(Wanted wanted = Wanted::all) noexcept : wanted_(wanted) {}
    bool wants_all() const noexcept { return wanted_ == Wanted::all; }

    /// Nothing for the addresses that stand for something else (null, MPI_STATUS_IGNORE, MPI_IN_PLACE), and for 0
    /// bytes.
    void reads(void const* from, std::uint64_t bytes) noexcept { add(from, bytes, false, bytes); }
    void writes(void const* from, std::uint64_t bytes) noexcept { add(from, bytes, true, bytes); }
    /// A message with `data` bytes in it.
    void message(void const* from, std::uint64_t bytes, bool writes, std::uint64_t data) noexcept {
        add(from, bytes, writes, data < bytes ? data : bytes);
    }
    /// The call may touch memory that no argument tells: absolute addresses, datatypes that are not known, windows,
    /// what a function of the program does that MPI calls.
    void anything() noexcept { anything_ = true; }

    bool touches_anything() const noexcept { return anything_; }
    /// Beside them the call touches anything if touches_anything().
    std::span<TouchedRange const> ranges() const noexcept { return {ranges_.data(), count_}; }
    /// Whether the call may touch a byte of [from, from + bytes).
    bool overlaps(std::uintptr_t from, std::uint64_t bytes) const noexcept {
        if (anything_) return true;
        for (TouchedRange const& range : ranges())
            if (range.from < from + bytes && from < range.from + range.bytes) return true;
        return false;
    }

  private:
    /// MPI's constants for pointers are below the first page that a process can have, or the last address.
    static constexpr std::uintptr_t k_lowest = 4096;

    /// Once in the plugin and not once in each wrapper: it is called by services alone.
    [[gnu::noinline]] void add(void const* at, std::uint64_t bytes, bool writes, std::uint64_t data) noexcept {
        auto const from = reinterpret_cast<std::uintptr_t>(at);
        if (bytes == 0 || from < k_lowest || from == UINTPTR_MAX) return;
        if (count_ == k_most || from + bytes < from) {
            anything_ = true;
            return;
        }
        ranges_[count_++] = {from, bytes, writes, data};
    }

    std::array<TouchedRange, k_most> ranges_;  // the first count_ are set
    std::size_t count_ = 0;
    bool anything_ = false;
    Wanted wanted_;
};

/// Refers to what a wrapper knows of its call's memory, and computes it if a service asks. Valid while Service::before
/// runs. Counts of the program are read then, from memory that may itself be guarded: the caller must hold nothing that
/// the resolver of a page fault waits for.
class TouchedBy {
  public:
    template <class Fill>
    explicit TouchedBy(Fill const& fill) noexcept
        : object_(std::addressof(fill)), fill_([](void const* object, TouchedMemory& memory) noexcept {
              (*static_cast<Fill const*>(object))(memory);
          }) {}

    void fill(TouchedMemory& memory) const noexcept { fill_(object_, memory); }

  private:
    void const* object_;
    void (*fill_)(void const*, TouchedMemory&) noexcept;
};

}  // namespace sluice::plugin
