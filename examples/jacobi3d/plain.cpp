// SPDX-License-Identifier: BSD-3-Clause
// Plain MPI, in two ways: every face of every cube at once, or one cube after the other.
#include <mpi.h>

#include <algorithm>

#include "cube.hpp"

namespace jacobi {

namespace {

/// The ghost faces of one cube that are being received.
struct Incoming {
    std::array<std::vector<double>, k_sides> faces;
    Ghosts ghosts() const {
        Ghosts ghosts;
        for (std::size_t side = 0; side < k_sides; ++side)
            ghosts[side] = faces[side];
        return ghosts;
    }
};

class Exchange {
  public:
    Exchange(Box const& box, int step) : box_(box), step_(step) {}

    /// Starts to receive the faces that `cube` needs.
    void receive(Cube const& cube, Incoming& into) {
        for (int side = 0; side < k_sides; ++side) {
            auto& face = into.faces[static_cast<std::size_t>(side)];
            face.resize(box_.face_points());
            ++faces_;
            int const from = box_.neighbour(cube.number(), side);
            MPI_Irecv(face.data(), static_cast<int>(face.size()), MPI_DOUBLE, box_.owner(from),
                      cube.number() * k_sides + side, MPI_COMM_WORLD, &requests_.emplace_back());
        }
    }
    /// Starts to send the face that `reader` needs at its `side`.
    void send(Cube const& cube, int reader, int side) {
        auto& face = outgoing_.emplace_back(box_.face_points());
        ++faces_;
        cube.pack(Box::opposite(side), step_, face);
        MPI_Isend(face.data(), static_cast<int>(face.size()), MPI_DOUBLE, box_.owner(reader), reader * k_sides + side,
                  MPI_COMM_WORLD, &requests_.emplace_back());
    }
    void wait() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        outgoing_.clear();
    }
    /// The faces being received and sent, together.
    std::uint64_t peak_bytes() const { return faces_ * box_.face_points() * sizeof(double); }

  private:
    Box const& box_;
    int step_;
    std::uint64_t faces_ = 0;
    std::vector<MPI_Request> requests_;
    std::vector<std::vector<double>> outgoing_;
};

}  // namespace

Used all_at_once(Box const& box, std::vector<Cube>& cubes, int steps) {
    Used used;
    for (int step = 0; step < steps; ++step) {
        Exchange exchange(box, step);
        std::vector<Incoming> incoming(cubes.size());
        for (std::size_t i = 0; i < cubes.size(); ++i)
            exchange.receive(cubes[i], incoming[i]);
        for (Cube const& cube : cubes)
            for (int side = 0; side < k_sides; ++side)
                exchange.send(cube, box.neighbour(cube.number(), side), Box::opposite(side));
        exchange.wait();
        for (std::size_t i = 0; i < cubes.size(); ++i)
            cubes[i].relax(step, incoming[i].ghosts());
        used.peak_bytes = exchange.peak_bytes();
    }
    return used;
}

Used cube_by_cube(Box const& box, std::vector<Cube>& cubes, int steps) {
    Used used;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<Cube*> by_number(static_cast<std::size_t>(box.count()));
    for (Cube& cube : cubes)
        by_number[static_cast<std::size_t>(cube.number())] = &cube;
    auto const own = [&](int number) -> Cube& { return *by_number[static_cast<std::size_t>(number)]; };
    for (int step = 0; step < steps; ++step)
        for (int number = 0; number < box.count(); ++number) {  // all ranks go through the cubes in the same order
            Exchange exchange(box, step);
            Incoming incoming;
            if (box.owner(number) == rank) exchange.receive(own(number), incoming);
            for (int side = 0; side < k_sides; ++side)
                if (int const from = box.neighbour(number, side); box.owner(from) == rank)
                    exchange.send(own(from), number, side);
            exchange.wait();
            if (box.owner(number) == rank) own(number).relax(step, incoming.ghosts());
            used.peak_bytes = std::max(used.peak_bytes, exchange.peak_bytes());
        }
    return used;
}

}  // namespace jacobi
