// SPDX-License-Identifier: BSD-3-Clause
#include "fluctuation/method.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "mpi/mpi.hpp"
#include "sluice/error.hpp"

namespace sluice::bench {

namespace {

using jacobi::Box;
using jacobi::Cube;
using jacobi::Used;
using Form = Used (*)(Box&, std::vector<Cube>&, int, Settings const&);

/// Relaxes all points with the same numbers as the faces of every neighbour.
Used only_compute(Box& box, std::vector<Cube>& cubes, int steps, Settings const&) {
    std::vector<double> const face(box.face_points(), 1.0);
    jacobi::Ghosts ghosts;
    ghosts.fill(face);
    for (int step = 0; step < steps; ++step)
        for (Cube& cube : cubes)
            cube.relax(step, ghosts);
    return {};
}

Used only_exchange(Box& box, std::vector<Cube>& cubes, int steps, Settings const&) {
    box.computes = false;
    Used const used = jacobi::all_at_once(box, cubes, steps);
    box.computes = true;
    return used;
}

struct Entry {
    char const* name;
    FluctuationMethod::Part part;
    Form run;
};

using Part = FluctuationMethod::Part;
constexpr std::array k_entries{
    Entry{"at_once", Part::whole,
          [](Box& box, std::vector<Cube>& cubes, int steps, Settings const&) {
              return jacobi::all_at_once(box, cubes, steps);
          }},
    Entry{"cube_by_cube", Part::whole,
          [](Box& box, std::vector<Cube>& cubes, int steps, Settings const&) {
              return jacobi::cube_by_cube(box, cubes, steps);
          }},
    Entry{"fetch", Part::whole,
          [](Box& box, std::vector<Cube>& cubes, int steps, Settings const& settings) {
              return jacobi::by_fetching(box, cubes, steps, settings);
          }},
    Entry{"send", Part::whole,
          [](Box& box, std::vector<Cube>& cubes, int steps, Settings const& settings) {
              return jacobi::by_sending(box, cubes, steps, settings);
          }},
    Entry{"paged", Part::whole, nullptr},
    Entry{"compute", Part::compute, only_compute},
    Entry{"exchange", Part::exchange, only_exchange},
};

Entry const* find(std::string const& name) {
    auto const found = std::find_if(k_entries.begin(), k_entries.end(), [&](Entry const& e) { return name == e.name; });
    return found == k_entries.end() ? nullptr : &*found;
}

}  // namespace

FluctuationMethod FluctuationMethod::from_text(std::string const& text) {
    FluctuationMethod method;
    std::istringstream words(text);
    std::getline(words, method.name, ':');
    Entry const* const entry = find(method.name);
    if (entry == nullptr) {
        std::string known;
        for (Entry const& each : k_entries)
            known += std::string(" ") + each.name;
        throw Error(ErrorCode::invalid_argument, "no method is called '" + method.name + "'; known are" + known);
    }
    method.part = entry->part;
    method.in_file = entry->run == nullptr;
    method.settings = Settings::from_environment();
    for (std::string word; std::getline(words, word, ':');) {
        std::size_t const sign = word.find('=');
        if (sign == std::string::npos)
            throw Error(ErrorCode::invalid_argument, "'" + word + "' in '" + text + "' is no SETTING=VALUE");
        method.settings.set(word.substr(0, sign), word.substr(sign + 1));
        method.text += (method.text.empty() ? "" : ":") + word;
    }
    return method;
}

Used FluctuationMethod::run(Box& box, std::vector<Cube>& cubes, int steps) const {
    return find(name)->run(box, cubes, steps, settings);
}

Used FluctuationMethod::run_in_file(Box& box, int steps, std::function<void()> const& begin,
                                    std::function<void()> const& end, std::uint64_t& checksum) const {
    jacobi::PagedCubes cubes(box, mpi::rank_in(MPI_COMM_WORLD), settings);
    begin();
    Used const used = cubes.relax(steps);
    end();
    checksum = cubes.checksum(steps);
    return used;
}

}  // namespace sluice::bench
