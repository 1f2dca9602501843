// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Vectors that have another number of elements after a redistribution.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "sluice/error.hpp"

namespace sluice {

/// What becomes of a vector that has another number of elements afterwards. Its size is always the new number.
enum class Resize {
    grow,      ///< its capacity grows to what is needed if it must, and never shrinks. Growth copies the vector:
               ///< reserve() what a rank may hold avoids that
    fit,       ///< the same, and the capacity that is not needed is given back
    must_fit,  ///< its capacity stays; if it does not suffice on a rank, that is an error on all
};

/// A vector and its numbers of elements: before a move, needed for it, and afterwards.
template <class Vector>
struct VectorInMove {
    Vector& vector;
    std::uint64_t before;
    std::uint64_t during;
    std::uint64_t after;

    /// What is wrong with its size or capacity.
    std::optional<Error> fault(Resize resize) const {
        if (vector.size() != before)
            return Error(ErrorCode::invalid_argument, "the plan is for " + std::to_string(before) +
                                                          " elements, the vector has " + std::to_string(vector.size()));
        if (resize == Resize::must_fit && vector.capacity() < during)
            return Error(ErrorCode::invalid_argument, "the vector has room for " + std::to_string(vector.capacity()) +
                                                          " elements, and needs " + std::to_string(during));
        return std::nullopt;
    }
    /// A vector that grows by itself takes up to twice what it needs.
    void grow_to(std::uint64_t elements) {
        vector.reserve(elements);
        vector.resize(elements);
    }
};

/// Gives vectors the elements that they need for a move, calls `move` and cuts them to what they have afterwards.
/// @param resize  what becomes of their capacity
/// @param move    is handed the fault of this rank, if there is one; it must make it an error on all ranks
/// @param vectors are what they were if `move` throws
/// @return what `move` returns
template <class Move, class... Vectors>
auto move_in_vectors(Resize resize, Move const& move, VectorInMove<Vectors>... vectors) {
    std::optional<Error> fault;
    ((fault = fault ? fault : vectors.fault(resize)), ...);
    bool const may_grow = !fault;  // a vector that is refused for its size keeps it
    try {
        if (may_grow) (vectors.grow_to(vectors.during), ...);
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory, "no memory for the vectors of a redistribution");
    } catch (std::length_error const&) {
        fault.emplace(ErrorCode::out_of_memory, "a vector cannot have as many elements as a redistribution needs");
    }
    try {
        auto report = move(fault);
        (vectors.vector.resize(vectors.after), ...);
        if (resize == Resize::fit) (vectors.vector.shrink_to_fit(), ...);
        return report;
    } catch (...) {
        if (may_grow) (vectors.vector.resize(vectors.before), ...);
        throw;
    }
}

}  // namespace sluice
