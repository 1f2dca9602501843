// SPDX-License-Identifier: BSD-3-Clause
/// The place in a program of Python that runs on this thread, without the interpreter's lock: the thread's own frames
/// and the code that they run stay as they are while it is in a function of C.
///
/// The layout of frames and code is CPython 3.11's. Other versions are not looked into: their calls have places in the
/// module that calls MPI.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::plugin {

/// Looks whether the process has an interpreter that is known.
void find_python() noexcept;
/// Notes the interpreter's text, if this is it.
void see_interpreter(std::uint64_t from, std::uint64_t to) noexcept;
bool is_interpreter(std::uint64_t address) noexcept;

/// Notes the file of the module of mpi4py that calls MPI: the package is the folder that it lies in. The first one
/// counts.
void see_mpi4py(std::string_view file) noexcept;

/// The instruction that this thread runs, which tells places apart; null if it runs none.
void const* python_instruction() noexcept;

/// Writes "step@solver.py:42 (Python)" into `text`, ended by a zero, and cut where it is too long: the frame of the
/// program that this thread runs, not one of mpi4py or of an import. False if there is none.
bool describe_python(std::span<char> text) noexcept;

}  // namespace sluice::plugin
