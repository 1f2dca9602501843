// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/moving/request_window.hpp"

#include <algorithm>

#include "mpi/mpi.hpp"

namespace sluice::redistribution {

RequestWindow::RequestWindow(std::uint64_t most, memory::Meter& meter)
    : requests_(most, MPI_REQUEST_NULL, memory::MeteredAllocator<MPI_Request>(meter)),
      done_(most, 0, memory::MeteredAllocator<int>(meter)) {}

MPI_Request* RequestWindow::next() {
    if (open_ == requests_.size()) wait_for_some();
    MPI_Request* const place = &requests_[open_++];
    peak_ = std::max<std::uint64_t>(peak_, open_);
    return place;
}

void RequestWindow::wait_for_some() {
    int count = 0;
    mpi::check(MPI_Waitsome(static_cast<int>(open_), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE),
               "MPI_Waitsome");
    auto const open_end = requests_.begin() + static_cast<std::ptrdiff_t>(open_);
    open_ = static_cast<std::size_t>(std::remove(requests_.begin(), open_end, MPI_REQUEST_NULL) - requests_.begin());
}

void RequestWindow::drain() {
    mpi::check(MPI_Waitall(static_cast<int>(open_), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    open_ = 0;
}

}  // namespace sluice::redistribution
