// SPDX-License-Identifier: BSD-3-Clause
/// What ranks compare before they decide together: values that must be alike, extremes, and a fault that one rank may
/// have found by itself. All of it goes in one reduction.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "sluice/error.hpp"
#include "sluice/units.hpp"

namespace sluice::groups {

/// Every rank asks for the same things in the same order, then calls run(), which is collective:
///
///     Agreement agreement;
///     agreement.fault(mine);                              // one rank's fault becomes an Error on all
///     agreement.alike("block_bytes", block_bytes);        // so does a value that differs
///     std::uint64_t const& most = agreement.most(count);  // the largest of all ranks, once run() has returned
///     agreement.run(comm);
///
/// It is of constant size and allocates nothing, unless it throws.
class Agreement {
  public:
    /// Makes each value its maximum over all ranks. Collective.
    using Maxima = std::function<void(std::span<std::uint64_t> values)>;
    static constexpr std::size_t k_most_values = 48;

    Agreement() = default;
    Agreement(Agreement const&) = delete;  // most() and least() return references into it
    Agreement& operator=(Agreement const&) = delete;

    void fault(std::optional<Error> const& mine);
    /// `name` is for the error; it must live until run() has returned.
    void alike(std::string_view name, std::uint64_t value);
    void alike(std::string_view name, Bytes value);
    /// The same for a text, which must live until run() has returned, too. Texts are compared by a hash of 64 bits.
    void alike(std::string_view name, std::string_view text);
    std::uint64_t const& most(std::uint64_t value);
    std::uint64_t const& least(std::uint64_t value);

    /// Collective. Throws the same Error on every rank: the fault of the lowest rank that has one, or the first value
    /// that is not alike, with the values of rank 0 and of the lowest rank that has another one.
    void run(MPI_Comm comm);
    /// The same with another way to find the maxima; `comm` is used only if there is something to throw.
    void run(MPI_Comm comm, Maxima const& maxima);

  private:
    enum class Kind : std::uint8_t { most, least, alike, alike_bytes, alike_text };
    struct Value {
        std::string_view name;
        std::size_t at = 0;
        Kind kind = Kind::most;
        std::uint64_t mine = 0;
        std::string_view text{};
    };

    /// Appends to values_ and returns the index of the new value.
    std::size_t put(std::uint64_t value);
    void ask(Value const& value);
    void ask_alike(std::string_view name, std::uint64_t value, Kind kind, std::string_view text = {});
    bool differs(Value const& value) const;

    std::optional<Error> fault_;
    std::array<std::uint64_t, k_most_values> values_{};  ///< the first: whether the rank has a fault
    std::size_t used_ = 1;
    std::array<Value, k_most_values> asked_{};
    std::size_t count_ = 0;
};

}  // namespace sluice::groups
