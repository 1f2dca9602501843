// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Arrays in memory that the ranks of a node share: redistribute() copies their blocks straight from one array into
/// another, without messages.
///
///     auto particles = sluice::allocate<Particle>(context, n);  // a std::vector with another allocator
///     sluice::redistribute(context, particles, ranks);
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"

namespace sluice {

namespace node {
class ArrayMemory;
}

namespace detail {

/// The memory that allocators of one rank take from. Copies are the same memory.
class SLUICE_API NodeMemory {
  public:
    explicit NodeMemory(Context const& context);
    /// Throws std::bad_alloc.
    void* take(std::uint64_t bytes) const;
    void give_back(void* memory) const noexcept;
    bool operator==(NodeMemory const&) const = default;

  private:
    std::shared_ptr<node::ArrayMemory> memory_;
};

/// The error of an array for which there is no memory.
SLUICE_API Error no_memory_for(Context const& context, std::uint64_t elements, std::uint64_t element_bytes);

}  // namespace detail

/// A standard allocator. Each allocation takes whole pages, zeroed, in memory that the other ranks of the node can map,
/// or private memory where the system refuses that. An allocator, and containers that use it, may outlive the Context
/// and MPI_Finalize: nothing of it belongs to MPI. After fork() a child sees the arrays, and what it writes is its own.
/// Threads: allocators and containers may be used by several threads as those of the standard library.
template <typename T>
class NodeAllocator {
  public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    /// @param context names the rank that the memory belongs to
    explicit NodeAllocator(Context const& context) : memory_(context) {}
    // There is no move: an allocator, and so an array, that was moved from keeps its memory and can be used again.
    NodeAllocator(NodeAllocator const&) noexcept = default;
    NodeAllocator& operator=(NodeAllocator const&) noexcept = default;
    ~NodeAllocator() = default;
    /// The same memory, for elements of another type.
    template <typename U>
    NodeAllocator(NodeAllocator<U> const& other) noexcept : memory_(other.memory()) {}

    /// @param n number of elements
    /// @throws std::bad_alloc
    T* allocate(std::size_t n) {
        if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(memory_.take(n * sizeof(T)));
    }
    /// @param memory what allocate() returned
    void deallocate(T* memory, std::size_t) noexcept { memory_.give_back(memory); }

    detail::NodeMemory const& memory() const noexcept { return memory_; }
    template <typename U>
    bool operator==(NodeAllocator<U> const& other) const noexcept {
        return memory_ == other.memory();
    }

  private:
    detail::NodeMemory memory_;
};

/// A vector whose elements lie in such memory.
template <typename T>
using NodeVector = std::vector<T, NodeAllocator<T>>;

/// Makes an array of `n` elements. Local: ranks need not call it together. Other ranks map the array at the first
/// redistribution that moves blocks of it; they keep no descriptor, and the process keeps one for all its arrays.
/// Memory: n elements, in whole pages, which are allocated at once; counted on this rank alone, wherever it is mapped.
/// @param context the rank that the array belongs to
/// @param n       number of elements; each is value-initialised
/// @return a std::vector
/// @throws Error out_of_memory, with the rank and the bytes; invalid_argument for a context that was moved from
template <typename T>
NodeVector<T> allocate(Context const& context, std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T>, "other ranks copy the elements as bytes");
    NodeAllocator<T> const allocator(context);
    try {
        return NodeVector<T>(n, allocator);
    } catch (std::bad_alloc const&) {
    } catch (std::length_error const&) {
    }
    throw detail::no_memory_for(context, n, sizeof(T));
}

/// Whether an array lies in memory that the other ranks of the node can map. If not, calls work as for any other array.
/// @param context the context that the array was made with
/// @param array   its first element
/// @return false also for memory that is not of allocate()
SLUICE_API bool is_shared(Context const& context, void const* array);

}  // namespace sluice
