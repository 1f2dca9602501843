// SPDX-License-Identifier: BSD-3-Clause
// Each cube is a task. It publishes its faces and fetches those of its neighbours when there are tokens for them; while
// it waits, other cubes compute.
#include <mpi.h>

#include "cube.hpp"
#include "faces.hpp"
#include "sluice/fetch.hpp"

namespace jacobi {

namespace {

using sluice::FetchRequest;
using sluice::FetchResult;
using sluice::Store;

void publish_faces(Store& store, Box const& box, Cube const& cube, int step) {
    for (int side = 0; side < k_sides; ++side)
        store.publish(key_of(box, cube.number(), side, step), {box.face_points() * sizeof(double)},
                      packer(cube, side, step));
}

sluice::Task fetch_and_relax(Store& store, Box const& box, Cube& cube, int steps) {
    for (int step = 0; step < steps; ++step) {
        publish_faces(store, box, cube, step);
        std::vector<FetchRequest> const wants = neighbours_faces(box, cube.number(), step);
        FetchResult const faces = co_await store.fetch_all(wants);
        // The points of the last step are overwritten now, so all readers must have their faces.
        for (int side = 0; step > 0 && side < k_sides; ++side)
            co_await store.all_have_it(key_of(box, cube.number(), side, step - 1));
        cube.relax(step, ghosts_of(faces));
    }
}

}  // namespace

Used by_fetching(Box const& box, std::vector<Cube>& cubes, int steps) {
    return by_fetching(box, cubes, steps, sluice::Settings::from_environment());
}

Used by_fetching(Box const& box, std::vector<Cube>& cubes, int steps, sluice::Settings const& settings) {
    sluice::Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    sluice::Tasks tasks(context);
    for (Cube& cube : cubes)
        tasks.spawn(fetch_and_relax(store, box, cube, steps));
    tasks.run();
    store.finish();  // peers may still fetch from this rank
    return {store.report().peak.count};
}

}  // namespace jacobi
