// SPDX-License-Identifier: BSD-3-Clause
/// Names a place in the program: "function+0x1f (module)".
#pragma once

#include <span>

namespace sluice::plugin {

/// Writes the name of `address` into `text`, ended by a zero, cut where it is too long. Function names come from the
/// dynamic symbols and from the symbol table of the module's file. Only the module's file name is used, never its
/// folder.
void describe_place(void const* address, std::span<char> text) noexcept;

}  // namespace sluice::plugin
