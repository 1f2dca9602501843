// SPDX-License-Identifier: BSD-3-Clause
/// Synchronous sends that leave from a copy, so the program has its buffer back at once, whether they are matched or
/// not: a synchronous send can be neither cancelled dependably nor sent again.
///
///     send ──> pending: MPI_Issend of the copy ── matched ──> done, copy is freed
///                        └── MPI_Finalize: all ranks have come there, so nothing matches it any more ──> left to MPI
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "memory/leased.hpp"
#include "plugin/tables/memory.hpp"

namespace sluice::plugin {

/// A message of the program.
struct Message {
    void const* buffer;
    int count;
    MPI_Datatype type;
    int destination;
    int tag;
    MPI_Comm comm;
    std::uint64_t bytes;
    bool dense;  ///< its bytes are in one piece
};

struct Mark {
    MPI_Request request = MPI_REQUEST_NULL;
    Memory copy;
    std::optional<std::uint64_t> completed;  ///< receives of the receiver when it left
    std::uint64_t bytes_each = 0;            ///< of the messages since the mark before
    bool is_done() const noexcept { return request == MPI_REQUEST_NULL; }
};

class Marks {
  public:
    explicit Marks(Budget const& budget) : budget_(budget), pending_(Allocator(budget)) {}

    /// Null if there is no memory for it; nothing was sent then.
    std::shared_ptr<Mark> send(Message const& message);
    /// Asks MPI about one.
    static bool look(Mark& mark);
    /// Asks MPI about the next few in turn, and frees the copies of those that are done: of thousands that a receiver
    /// leaves waiting, each call costs no more than of a few.
    void sweep();
    /// In MPI_Finalize, after all ranks have come there. The copies stay.
    void leave_to_mpi();

  private:
    using Allocator = memory::LeasedAllocator<std::shared_ptr<Mark>>;
    bool copy(Message const& message, Mark& mark, Message& sent) const;
    std::shared_ptr<Mark> prepare(Message const& message, Message& sent) noexcept;

    static constexpr std::size_t k_looks = 4;

    Budget const& budget_;
    std::size_t next_ = 0;
    memory::LeasedVector<std::shared_ptr<Mark>> pending_;
};

}  // namespace sluice::plugin
