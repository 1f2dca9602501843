// SPDX-License-Identifier: BSD-3-Clause
// The same tasks by the send-based scheme: each cube packs its faces, sends them to its neighbours as soon as it has
// them, and receives theirs. With SLUICE_SEND_CONTROL=on a face leaves when the reader has tokens for it, with off at
// once.
#include <mpi.h>

#include "cube.hpp"
#include "faces.hpp"
#include "sluice/fetch.hpp"

namespace jacobi {

namespace {

using sluice::FetchRequest;
using sluice::FetchResult;
using sluice::Store;

void send_faces(Store& store, Box const& box, Cube const& cube, int step) {
    for (int side = 0; side < k_sides; ++side)
        store.send(box.owner(box.neighbour(cube.number(), side)), key_of(box, cube.number(), side, step),
                   {box.face_points() * sizeof(double)}, packer(cube, side, step));
}

sluice::Task send_and_relax(Store& store, Box const& box, Cube& cube, int steps) {
    for (int step = 0; step < steps; ++step) {
        send_faces(store, box, cube, step);  // the faces are packed, so the points may change now
        std::vector<FetchRequest> const wants = neighbours_faces(box, cube.number(), step);
        FetchResult const faces = co_await store.receive_all(wants);
        cube.relax(step, ghosts_of(faces));
    }
}

}  // namespace

Used by_sending(Box const& box, std::vector<Cube>& cubes, int steps) {
    return by_sending(box, cubes, steps, sluice::Settings::from_environment());
}

Used by_sending(Box const& box, std::vector<Cube>& cubes, int steps, sluice::Settings const& settings) {
    sluice::Context context(MPI_COMM_WORLD, settings);
    Store store(context);
    sluice::Tasks tasks(context);
    for (Cube& cube : cubes)
        tasks.spawn(send_and_relax(store, box, cube, steps));
    tasks.run();
    store.finish();  // peers may still wait for faces that were packed here
    return {store.report().peak.count};
}

}  // namespace jacobi
