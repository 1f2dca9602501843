# SPDX-License-Identifier: BSD-3-Clause
# Tests by a Python script that starts jobs itself and examines the files that they leave.
#
# sluice_script_test(NAME SCRIPT [RANKS n] [LABEL quick|long] [ARGUMENTS arg…]) makes PREFIX/NAME (SluiceTest.cmake says
# what PREFIX is), where the command, the plugin or the programs can be named in ARGUMENTS:
#   SLUICE_COMMAND_BUILT   build/bin/sluice
#   SLUICE_LAUNCHER        the command that starts a job of this MPI, as one string, without the number of ranks
# RANKS (2 unless given) is the largest number of ranks of its jobs. A script that prints "skipped: reason" is skipped.
include_guard(DIRECTORY)

find_program(SLUICE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
get_filename_component(folder_of_builds ${CMAKE_BINARY_DIR} DIRECTORY)
set(SLUICE_COMMAND_BUILT ${folder_of_builds}/bin/sluice)
set(SLUICE_LAUNCHER ${SLUICE_MPIEXEC})
if(SLUICE_MPI STREQUAL "openmpi")
  string(APPEND SLUICE_LAUNCHER " --oversubscribe")
endif()

function(sluice_script_test name script)
  cmake_parse_arguments(arg "" "RANKS;LABEL" "ARGUMENTS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_script_test(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 2)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL quick)
  endif()
  _sluice_test_environment(environment)
  set(test ${SLUICE_TEST_PREFIX}/${name})
  add_test(NAME ${test} COMMAND ${SLUICE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_ARGUMENTS})
  set_tests_properties(${test} PROPERTIES TIMEOUT ${SLUICE_TEST_TIMEOUT} PROCESSORS ${SLUICE_JOB_PROCESSORS}
    LABELS "${arg_LABEL};${SLUICE_MPI}" ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "${SLUICE_TEST_SKIPPED}"
    FAIL_REGULAR_EXPRESSION "${SLUICE_TEST_FAILED}")
endfunction()
