/// One call of the program into MPI, from its wrapper's first to its last line.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "functions.hpp"
#include "interpose/gate.hpp"

namespace sluice::interpose {

class Call {
  public:
    Call(Function function, void const* caller) noexcept;
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

    void out(std::uint64_t bytes) noexcept { out_ = bytes; }
    void in(std::uint64_t bytes) noexcept { in_ = bytes; }
    /// The bytes that leave and those that come are in one buffer (MPI_IN_PLACE).
    void same(bool one_buffer) noexcept { one_buffer_ = one_buffer; }
    void to(int destination, MPI_Comm comm) noexcept;
    void into(void* buffer, MPI_Count count, MPI_Datatype type) noexcept;
    /// Time in this call is time that waits for others. Told after its bytes.
    void waits() noexcept;
    void passes_on() noexcept;

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
    std::uint64_t kept_busy() const noexcept { return one_buffer_ ? in_ : out_ + in_; }

    Inside inside_;
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
    std::uint64_t flying_ = 0;
    void const* buffer_ = nullptr;
    std::uint64_t span_ = 0;
    std::uint64_t absent_ = 0;  // bytes of the receive buffer that were not in memory
};

}  // namespace sluice::interpose
