// SPDX-License-Identifier: BSD-3-Clause
// The fetched form for more points than there is memory: points and faces are in a file. A cube is in memory while it
// is relaxed; the next cubes are read while it computes, and finished cubes are written back. Faces lie side by side in
// the file, so that a neighbour's fetch is served without the cube.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "cube.hpp"
#include "faces.hpp"
#include "sluice/fetch.hpp"
#include "sluice/paged.hpp"

namespace jacobi {

namespace {

using sluice::BlockAccess;
using sluice::BlockUse;
using sluice::FetchRequest;
using sluice::FetchResult;
using sluice::PagedBlocks;
using sluice::PagedFile;
using sluice::Store;

/// The blocks of cube i of this rank, by the parity of the step, are points 4 i and 4 i + 1, faces 4 i + 2 and 4 i + 3.
struct Places {
    std::size_t cube;
    std::size_t points(int step) const { return 4 * cube + static_cast<std::size_t>(step % 2); }
    std::size_t faces(int step) const { return 4 * cube + 2 + static_cast<std::size_t>(step % 2); }
};

std::vector<sluice::Bytes> sizes_of_blocks(Box const& box, std::size_t cubes) {
    std::vector<sluice::Bytes> sizes;
    for (std::size_t i = 0; i < cubes; ++i) {
        sizes.insert(sizes.end(), 2, sluice::Bytes{box.cube_points() * sizeof(double)});
        sizes.insert(sizes.end(), 2, sluice::Bytes{k_sides * box.face_points() * sizeof(double)});
    }
    return sizes;
}

/// Returns the blocks that step `step` uses.
std::array<BlockUse, 3> uses_of(Places const& places, int step) {
    return {BlockUse{places.points(step), BlockAccess::read}, BlockUse{places.points(step + 1), BlockAccess::write},
            BlockUse{places.faces(step + 1), BlockAccess::write}};
}

/// Plans two steps, after which the parities repeat.
std::vector<BlockUse> plan_of(std::size_t cubes) {
    std::vector<BlockUse> order;
    for (int step = 0; step < 2; ++step)
        for (std::size_t i = 0; i < cubes; ++i)
            std::ranges::copy(uses_of(Places{i}, step), std::back_inserter(order));
    return order;
}

void pack_faces(Box const& box, Cube const& cube, int step, std::span<double> faces) {
    for (std::size_t side = 0; side < k_sides; ++side)
        cube.pack(static_cast<int>(side), step, faces.subspan(side * box.face_points(), box.face_points()));
}

void publish_faces(Store& store, PagedFile const& file, Box const& box, Places const& places, int number, int step) {
    std::uint64_t const bytes = box.face_points() * sizeof(double);
    for (int side = 0; side < k_sides; ++side)
        publish_part(store, key_of(box, number, side, step), file, places.faces(step),
                     {static_cast<std::uint64_t>(side) * bytes}, {bytes});
}

sluice::Task read_and_relax(Store& store, PagedFile& file, Box const& box, Places places, int number, int steps) {
    for (int step = 0; step < steps; ++step) {
        publish_faces(store, file, box, places, number, step);
        std::vector<FetchRequest> const wants = neighbours_faces(box, number, step);
        FetchResult const faces = co_await store.fetch_all(wants);
        // The faces of the last step are overwritten now, so all readers must have them.
        for (int side = 0; step > 0 && side < k_sides; ++side)
            co_await store.all_have_it(key_of(box, number, side, step - 1));
        Ghosts const ghosts = ghosts_of(faces);
        // The blocks are requested last: a task that has them waits for nothing else.
        std::array<BlockUse, 3> const uses = uses_of(places, step);
        PagedBlocks const blocks = co_await file.use(uses);
        std::array<std::span<double>, 2> points{blocks.as<double>(0), blocks.as<double>(1)};
        if (step % 2 != 0) std::swap(points[0], points[1]);
        Cube cube(box, number, points);
        cube.relax(step, ghosts);
        pack_faces(box, cube, step + 1, blocks.as<double>(2));
    }
}

}  // namespace

struct PagedCubes::State {
    State(Box const& whole, int rank, sluice::Settings const& settings)
        : box(whole),
          context(MPI_COMM_WORLD, settings),
          numbers(numbers_of(whole, rank)),
          file(context, sizes_of_blocks(whole, numbers.size())) {}
    Box const& box;
    sluice::Context context;
    std::vector<int> numbers;
    PagedFile file;
};

PagedCubes::PagedCubes(Box const& box, int rank, sluice::Settings const& settings)
    : state_(std::make_unique<State>(box, rank, settings)) {
    for (std::size_t i = 0; i < state_->numbers.size(); ++i) {
        Places const places{i};
        std::array<BlockUse, 3> const uses{BlockUse{places.points(0), BlockAccess::write},
                                           BlockUse{places.points(1), BlockAccess::write},
                                           BlockUse{places.faces(0), BlockAccess::write}};
        PagedBlocks const blocks = state_->file.use_now(uses);
        Cube cube(box, state_->numbers[i], {blocks.as<double>(0), blocks.as<double>(1)});
        cube.fill();
        pack_faces(box, cube, 0, blocks.as<double>(2));
    }
}

PagedCubes::~PagedCubes() = default;

Used PagedCubes::relax(int steps) {
    Store store(state_->context);
    sluice::Tasks tasks(state_->context);
    state_->file.plan(plan_of(state_->numbers.size()), sluice::Repeat::yes);
    for (std::size_t i = 0; i < state_->numbers.size(); ++i)
        tasks.spawn(read_and_relax(store, state_->file, state_->box, Places{i}, state_->numbers[i], steps));
    tasks.run();
    store.finish();
    return {store.report().peak.count};
}

std::uint64_t PagedCubes::checksum(int step) {
    state_->file.plan({});
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < state_->numbers.size(); ++i) {
        BlockUse const use{Places{i}.points(step), BlockAccess::read};
        PagedBlocks const block = state_->file.use_now({&use, 1});
        sum += Cube(state_->box, state_->numbers[i], {block.as<double>(0), block.as<double>(0)}).checksum(step);
    }
    return sum;
}

sluice::PagedReport PagedCubes::report() const {
    return state_->file.report();
}

}  // namespace jacobi
