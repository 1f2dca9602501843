// SPDX-License-Identifier: BSD-3-Clause
/// The name of a function without its parameters and result.
#pragma once

#include <string>
#include <string_view>

namespace sluice::plugin {

/// "void (anonymous namespace)::step<int>(double*) const" is "(anonymous namespace)::step<int>". Namespaces and
/// template arguments stay.
std::string function_name(std::string_view demangled);

}  // namespace sluice::plugin
