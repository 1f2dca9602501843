// SPDX-License-Identifier: BSD-3-Clause
/// The functions of libmpi itself, past any library that stands between a program and its MPI.
#pragma once

namespace sluice::bench {

/// Returns the address of a function in the loaded libmpi. Throws std::runtime_error if no libmpi is among the loaded
/// libraries or if it lacks the function.
void* function_of_libmpi(char const* name);

/// The same, put into a pointer to a function.
template <class Pointer>
void find_in_libmpi(Pointer& pointer, char const* name) {
    pointer = reinterpret_cast<Pointer>(function_of_libmpi(name));
}

/// Returns whether a library stands between the program and libmpi.
bool something_stands_between();

}  // namespace sluice::bench
