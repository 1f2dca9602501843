// SPDX-License-Identifier: BSD-3-Clause
/// One call of the program into MPI, from its wrapper's first to its last line.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "functions.hpp"
#include "plugin/binding/gate.hpp"
#include "plugin/watch/arrival.hpp"

namespace sluice::plugin {

class Watch;

class Call {
  public:
    /// A call that `job` watches with `watch`.
    Call(Job& job, Watch& watch, Function function, void const* caller) noexcept;
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

    Job& job() const noexcept { return *job_; }
    Watch& watch() const noexcept { return *watch_; }
    /// Index into the table of call sites.
    std::uint32_t site() const noexcept { return site_; }
    void out(std::uint64_t bytes) noexcept { out_ = bytes; }
    void in(std::uint64_t bytes) noexcept { in_ = bytes; }
    /// The bytes that leave and those that come are in one buffer (MPI_IN_PLACE).
    void same(bool one_buffer) noexcept { one_buffer_ = one_buffer; }
    // For the matrix, each told after the bytes: the ranks that they go to, as the call is defined, not as the MPI
    // routes it. A rank's own part goes nowhere. The time depends on the arguments alone, not on the number of ranks.
    void to(int destination, MPI_Comm comm) noexcept;
    /// What leaves goes to the root; or what comes, comes from it. The other side counts nothing.
    void to_root(int root, MPI_Comm comm) noexcept;
    void from_root(int root, MPI_Comm comm) noexcept;
    /// The bytes to each other member.
    void to_each(std::uint64_t bytes, MPI_Comm comm) noexcept;
    /// To member i counts[i] of one type, or of types[i].
    template <class Count, class Types>
    void to_members(Count const* counts, Types types, MPI_Comm comm) noexcept;
    /// The call names no pairs of ranks.
    void to_no_named_rank() noexcept { unplaced_ = out_; }
    /// The same for a call that may fetch, too.
    void from_or_to_no_named_rank() noexcept { unplaced_ = out_ + in_; }
    void into(void* buffer, MPI_Count count, MPI_Datatype type) noexcept;
    /// Time in this call is time that waits for others. Told after its bytes.
    void waits() noexcept;
    void passes_on() noexcept;

    // For links, and only before the call ends.
    /// A service does the work of this call instead of MPI; other ranks got or sent `exchanged` bytes for it.
    void serves(std::uint64_t exchanged) noexcept;
    /// The call returns before its bytes have come. Its time is no waiting, its bytes stay in flight, and its buffer is
    /// looked at again when Watch::arrived() is told.
    Arrival arrives_later() noexcept;
    /// Pages of the program's or Sluice's buffers that became resident in this call: they are not MPI's.
    void own_pages(std::uint64_t bytes) noexcept { own_pages_ += bytes; }

    void starts(MPI_Request request) noexcept;
    void persistent(MPI_Request request) noexcept;
    void makes(MPI_Comm comm) noexcept {
        made_ = comm;
        makes_ = true;
    }
    void frees(MPI_Comm comm) noexcept;
    void makes_window(MPI_Win window) noexcept;
    void frees_window(MPI_Win window) noexcept;

    /// Writes down what the call took; gives `code` back.
    int end(int code) noexcept;

  private:
    template <bool several>
    void write_down(std::uint64_t ns, std::uint64_t now_us) const noexcept;
    std::uint64_t kept_busy() const noexcept { return one_buffer_ ? in_ : out_ + in_; }

    Inside inside_;
    Job* job_;
    Watch* watch_;
    std::uint64_t start_;
    std::uint32_t site_;
    std::uint32_t number_;  // among open calls
    bool reading_;
    bool waits_ = false;
    bool one_buffer_ = false;
    bool stays_open_ = false;  // a request goes on with its bytes
    bool receiving_ = false;   // samples know of its receive buffer
    bool makes_ = false;
    MPI_Comm made_;
    int destination_ = -1;  // in MPI_COMM_WORLD
    std::uint64_t out_ = 0;
    std::uint64_t in_ = 0;
    std::uint64_t unplaced_ = 0;  // bytes that the matrix lacks
    std::uint64_t flying_ = 0;
    void const* buffer_ = nullptr;
    std::uint64_t span_ = 0;
    std::uint64_t own_pages_ = 0;
    std::uint64_t absent_ = 0;  // bytes of the receive buffer that were not in memory
};

}  // namespace sluice::plugin
