// SPDX-License-Identifier: BSD-3-Clause
/// Open requests of the program, as the watched calls see them.
#pragma once

#include <mpi.h>

#include <array>
#include "memory/leased.hpp"
#include "plugin/tables/open_requests.hpp"

namespace sluice::plugin {

class Watch;
using Requests = OpenRequests<Watch>;
extern template class OpenRequests<Watch>;

/// Keeps the handles that a completing call is given, for it overwrites them, and drops those that it says are
/// complete.
class Completing {
  public:
    Completing(Requests& open, MPI_Request const* requests, int count) noexcept;
    void one(bool complete) noexcept { all(complete); }
    void all(bool complete) noexcept;
    void at(int index) noexcept;
    void some(int number, int const* indices) noexcept;
    /// The program gave them back, persistent ones, too.
    void freed() noexcept;
    /// Of the requests that were complete.
    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    static constexpr int k_few = 32;
    Requests& open_;
    int count_ = 0;
    std::uint64_t bytes_ = 0;
    Handle* handles_ = nullptr;
    std::array<Handle, k_few> few_;
    memory::LeasedVector<Handle> many_;
};

}  // namespace sluice::plugin
