// SPDX-License-Identifier: BSD-3-Clause
/// The name of the MPI library, without the particulars of its build.
#pragma once

#include <mpi.h>

#include <array>
#include <string>

namespace sluice::mpi {

/// "Open MPI v4.1.4", "MPICH 4.0.2". MPI need not be initialised.
inline std::string library_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string name(text.data());
    name = name.substr(0, name.find_first_of("\n,"));
    if (std::size_t const at = name.find("Version:\t"); at != std::string::npos) name.erase(at, 9);  // MPICH's table
    return name;
}

}  // namespace sluice::mpi
