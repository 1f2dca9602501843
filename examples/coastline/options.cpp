// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <sstream>
#include <stdexcept>

namespace coastline {

Options options_from(std::vector<std::string> const& arguments) {
    std::string const usage =
        "usage: coastline [--file FILE] [--ways sluice|alltoallv[,…]] [--south DEGREES] [--north DEGREES] [--record "
        "FOLDER]";
    Options options;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        std::string const& name = arguments[i];
        if (i + 1 == arguments.size()) throw std::runtime_error(name + ": what value?\n" + usage);
        std::istringstream value(arguments[i + 1]);
        if (name == "--file") {
            options.file = value.str();
        } else if (name == "--ways") {
            options.ways.clear();
            for (std::string way; std::getline(value, way, ',');) {
                if (way != "sluice" && way != "alltoallv") throw std::runtime_error(way + ": no such way\n" + usage);
                options.ways.push_back(way);
            }
        } else if (name == "--south" || name == "--north") {
            double& degrees = name == "--south" ? options.band.south : options.band.north;
            if (!(value >> degrees) || !value.eof()) throw std::runtime_error(name + ": no number\n" + usage);
        } else if (name == "--record") {
            options.record = value.str();
        } else {
            throw std::runtime_error(name + ": no such option\n" + usage);
        }
    }
    return options;
}

}  // namespace coastline
