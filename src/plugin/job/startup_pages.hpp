// SPDX-License-Identifier: BSD-3-Clause
/// Memory that only our start needed.
#pragma once

#include "plugin/binding/module.hpp"

namespace sluice::plugin {

/// Gives back the pages of this plugin's code and constants: the kernel maps sixteen at a time where one is touched,
/// and most of what a start touches is never needed again. What is needed comes back from the file. Changes no byte:
/// nothing that can be written is given back.
void give_back_startup_pages() noexcept;

/// The same for the parts of any module that are only read.
void give_back_pages(ModuleParts const& module) noexcept;

}  // namespace sluice::plugin
