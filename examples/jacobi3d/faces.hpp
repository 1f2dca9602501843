// SPDX-License-Identifier: BSD-3-Clause
/// The keys of faces, for the forms that fetch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cube.hpp"
#include "sluice/fetch.hpp"

namespace jacobi {

/// Returns the key of the face at `side` of `cube`.
inline sluice::Key key_of(Box const& box, int cube, int side, int step) {
    return {box.owner(cube), static_cast<std::uint64_t>(cube * k_sides + side), static_cast<std::uint64_t>(step)};
}

/// Returns the faces that `cube` needs, by side.
inline std::vector<sluice::FetchRequest> neighbours_faces(Box const& box, int cube, int step) {
    std::vector<sluice::FetchRequest> wants;
    wants.reserve(k_sides);
    for (int side = 0; side < k_sides; ++side)
        wants.push_back(
            {key_of(box, box.neighbour(cube, side), Box::opposite(side), step), {box.face_points() * sizeof(double)}});
    return wants;
}

/// Writes the face of `cube` at `side` as bytes.
inline auto packer(Cube const& cube, int side, int step) {
    return [&cube, side, step](std::span<std::byte> out) {
        cube.pack(side, step, {reinterpret_cast<double*>(out.data()), out.size() / sizeof(double)});
    };
}

inline Ghosts ghosts_of(sluice::FetchResult const& faces) {
    Ghosts ghosts;
    for (std::size_t side = 0; side < k_sides; ++side)
        ghosts[side] = faces.as<double>(side);
    return ghosts;
}

}  // namespace jacobi
