// SPDX-License-Identifier: BSD-3-Clause
/// A bounded number of open MPI requests.
///
/// Transfers of many pairs through windows of any size >= 2 always end if every rank adds its operations in the order
/// of the distance to the partner (see Pairwise): the open pair with the smallest distance has all its operations
/// posted on both ends.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "memory/meter.hpp"

namespace sluice::redistribution {

/// Only the constructor allocates.
class RequestWindow {
  public:
    RequestWindow(std::uint64_t most, memory::Meter& meter);

    /// Returns the place for the next request. Waits for an older one if all places are taken.
    MPI_Request* next();
    /// Waits until no request is open.
    void drain();

    std::uint64_t peak() const noexcept { return peak_; }

  private:
    void wait_for_some();

    memory::MeteredVector<MPI_Request> requests_;
    memory::MeteredVector<int> done_;
    std::size_t open_ = 0;
    std::uint64_t peak_ = 0;
};

/// The order in which a rank visits its partners: at distance d it sends to rank + d and receives from rank - d.
struct Pairwise {
    int rank;
    int size;
    int target(int distance) const noexcept { return wrapped(rank, distance); }
    int source(int distance) const noexcept { return wrapped(rank, size - distance); }

  private:
    int wrapped(int from, int by) const noexcept { return by < size - from ? from + by : from - (size - by); }
};

}  // namespace sluice::redistribution
