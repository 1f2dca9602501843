// SPDX-License-Identifier: BSD-3-Clause
#include "job.hpp"

#include <utility>

namespace coastline {

Job plan_job(Options const& options, MPI_Comm comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    CoastlineFile file(options.file);
    WorldCount world = count_world(file, options.band, comm);
    WorldCurve curve(file.columns(), world.blocks_of_bin);
    std::uint64_t const slots = (curve.blocks() + static_cast<unsigned>(ranks) - 1) / static_cast<unsigned>(ranks);
    return {std::move(world), std::move(curve), slots};
}

}  // namespace coastline
