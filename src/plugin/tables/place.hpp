// SPDX-License-Identifier: BSD-3-Clause
/// Names a place in the program: "function+0x1f (module)", "function+0x1f (module), in VecDot of libpetsc.so.3" where a
/// library has called MPI for it, or "step@solver.py:42 (Python)".
#pragma once

#include <cstdint>
#include <span>

namespace sluice::plugin {

/// Where the code of a place is on disk.
struct PlaceInFile {
    std::uint64_t offset = 0;  ///< of the call, from the begin of the file's addresses
    std::uint64_t mark = 0;    ///< of the file (kernel/files/file_mark.hpp)
};

/// `caller`: as caller_of_program() gives it, on the thread that is in this call. Writes its name into `text`, ended by
/// a zero, cut where it is too long. Function names come from the dynamic symbols and from the symbol table of the
/// module's file. Only the module's file name is used, never its folder; the mark of the file tells a reader whether
/// another file of that name is the same.
PlaceInFile describe_place(void const* caller, std::span<char> text) noexcept;

}  // namespace sluice::plugin
