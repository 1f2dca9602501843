# SPDX-License-Identifier: BSD-3-Clause
# Which of a test's numbers of ranks a build folder runs (docs/decisions/0126). Open MPI's folder runs all of them. The
# others run the same programs with another MPI or with a sanitizer, and what these find does not need every number:
#
#   folder                                 numbers of ranks, of those that the test names
#   openmpi                                all
#   mpich, code that depends on the MPI    1, 2, the smallest above 2
#   mpich, other code                         2, the smallest above 2
#   asan                                   1, 2, the smallest above 2
#   tsan                                      2, the smallest above 2
#   simulated                                 2, the smallest above 2, the largest
#
# A case that needs more ranks (SLUICE_NEEDS_RANKS) brings the smallest number that is enough. A test that names none of
# these runs at its smallest. With MPICH no test has more than 4 ranks, which spin.
include_guard(DIRECTORY)

# ON: every number of ranks in every folder.
option(SLUICE_TEST_ALL_RANKS "Run each test at all its numbers of ranks, also with MPICH, sanitizers and the simulator" OFF)

# _sluice_ranks_needed(VARIABLE SOURCES): the largest number of ranks that a case in the sources needs.
function(_sluice_ranks_needed result sources)
  set(most 1)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE)
    if(NOT EXISTS ${source}) # it is written during the build
      continue()
    endif()
    file(STRINGS ${source} lines REGEX "SLUICE_NEEDS_RANKS\\([0-9]+")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*SLUICE_NEEDS_RANKS\\(([0-9]+).*" "\\1" needed "${line}")
      if(needed GREATER most)
        set(most ${needed})
      endif()
    endforeach()
  endforeach()
  set(${result} ${most} PARENT_SCOPE)
endfunction()

# _sluice_smallest_from(VARIABLE LEAST COUNTS): the first of the sorted counts that is at least LEAST; empty if there is none.
function(_sluice_smallest_from result least counts)
  set(${result} "" PARENT_SCOPE)
  foreach(count IN LISTS counts)
    if(count GREATER_EQUAL least)
      set(${result} ${count} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# _sluice_test_rank_counts(VARIABLE NAME COUNTS SOURCES)
function(_sluice_test_rank_counts result name counts sources)
  list(SORT counts COMPARE NATURAL)
  if(SLUICE_MPI STREQUAL "mpich")
    list(FILTER counts INCLUDE REGEX "^[1-4]$")
  endif()
  if(SLUICE_TEST_ALL_RANKS OR NOT counts OR SLUICE_MPI STREQUAL "openmpi" AND NOT SLUICE_SANITIZE)
    set(${result} ${counts} PARENT_SCOPE)
    return()
  endif()
  _sluice_smallest_from(above_two 3 "${counts}")
  set(wanted 2 ${above_two})
  if(SLUICE_SANITIZE MATCHES "address" OR SLUICE_MPI STREQUAL "mpich" AND name MATCHES "${SLUICE_QUICK_NAMES}")
    list(APPEND wanted 1)
  elseif(SLUICE_MPI STREQUAL "simgrid")
    list(GET counts -1 largest)
    list(APPEND wanted ${largest})
  endif()
  _sluice_ranks_needed(needed "${sources}")
  if(needed GREATER 2)
    _sluice_smallest_from(enough ${needed} "${counts}")
    list(APPEND wanted ${enough})
  endif()
  set(kept "")
  foreach(count IN LISTS counts)
    if(count IN_LIST wanted)
      list(APPEND kept ${count})
    endif()
  endforeach()
  if(NOT kept)
    list(GET counts 0 kept)
  endif()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()
