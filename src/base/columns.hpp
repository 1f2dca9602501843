// SPDX-License-Identifier: BSD-3-Clause
/// Text in columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::base {

/// Counts code points, each of which takes one column.
std::size_t columns_of(std::string_view text);
/// Breaks the text at blanks into lines of at most `columns`. The first line begins with the label, the others with as
/// many blanks. A number and its unit stay together. A word that is too long gets a line of its own, and its middle is
/// replaced by an ellipsis.
std::string wrapped(std::string_view label, std::string_view text, std::size_t columns = 100);

}  // namespace sluice::base
