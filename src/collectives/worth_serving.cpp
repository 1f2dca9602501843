#include "collectives/inplace_alltoall.hpp"

namespace sluice::collectives {

bool worth_serving_alltoall(std::uint64_t bytes_per_pair, int size) noexcept {
    // Two ranks have one pair, and MPI's own exchange of it has little to lose; with more, MPI goes through the pairs
    // one by one, each waiting for the last.
    constexpr std::uint64_t k_from_of_two = 65536;
    constexpr std::uint64_t k_from = 65536;
    return size > 1 && bytes_per_pair >= (size == 2 ? k_from_of_two : k_from);
}

}  // namespace sluice::collectives
