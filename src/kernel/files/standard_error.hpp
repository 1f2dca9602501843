// SPDX-License-Identifier: BSD-3-Clause
/// Standard error, as long as descriptor 2 is what it was when Sluice was loaded. A program that closes it may open a
/// file of its own, which then has the number 2 and must not get a line of ours.
#pragma once

#include <string_view>

namespace sluice::kernel {

/// Writes a text as write_patiently() does, unless is_quiet(). It is dropped if descriptor 2 is no longer standard
/// error or never was open. Once a reader has taken nothing for k_patience, no later text waits for it. Allocates
/// nothing.
void put_on_standard_error(std::string_view text) noexcept;

/// Nothing is to be written on standard error: as the variable SLUICE_QUIET said when Sluice was loaded, because some
/// lines come before the settings are read, and without it as be_quiet() said last.
bool is_quiet() noexcept;
/// The setting `quiet`, of the settings that were read last: of the plugin, or of a Context.
void be_quiet(bool quiet) noexcept;

/// Standard error is what descriptor 2 is now. Called when Sluice is loaded.
void remember_standard_error() noexcept;

}  // namespace sluice::kernel
