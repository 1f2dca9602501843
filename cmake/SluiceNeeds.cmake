# SPDX-License-Identifier: BSD-3-Clause
# What is built depends on the options alone and never on what happens to be installed: a package that an option needs is
# found or is an error that says how to do without it. docs/index.md lists what is looked for.
include_guard(GLOBAL)

# sluice_needs(PACKAGE DEBIAN OPTION…): find_package(PACKAGE), or an error that names Debian's package and the options that
# leave out what needs it.
macro(sluice_needs package debian)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    sluice_misses("${package} (Debian: ${debian})" ${ARGN})
  endif()
endmacro()

# sluice_misses(WHAT OPTION…): that error.
function(sluice_misses what)
  list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE without)
  list(TRANSFORM without APPEND =OFF)
  list(JOIN without " " without)
  message(FATAL_ERROR "Sluice: ${what} is not installed. Without what needs it: ${without}")
endfunction()
