# SPDX-License-Identifier: BSD-3-Clause
# Tests that compare two runs of an MPI program, without and with the preload plugin (compare.py).
#
# sluice_equality_test(NAME TARGET|PATH [RANKS n…] [ARGUMENTS arg…] [OPTIONS option…] [LABELS label…] [FOLDER folder]
#                      [BEFORE command…] [PRELOAD]) makes
# <mpi>/plugin/FOLDER/NAME/<ranks>, FOLDER being equality unless given, at 1, 2 and 4 ranks unless RANKS says others. OPTIONS
# are compare.py's. With PRELOAD the plugin is in LD_PRELOAD; otherwise `sluice run` stands before the program. BEFORE starts
# compare.py.
include_guard(DIRECTORY)
find_program(SLUICE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)

set(SLUICE_COMPARE ${CMAKE_CURRENT_LIST_DIR}/compare.py)
set(SLUICE_EQUALITY_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(SLUICE_PLUGIN ${CMAKE_BINARY_DIR}/lib/libsluice-preload-${SLUICE_MPI}.so)
get_filename_component(folder_of_builds ${CMAKE_BINARY_DIR} DIRECTORY)
set(SLUICE_RUN "${folder_of_builds}/bin/sluice run" CACHE STRING "What the equality tests put before a program")

# The launcher without a number of ranks, as one string.
set(SLUICE_EQUALITY_LAUNCHER ${SLUICE_MPIEXEC})
if(SLUICE_MPI STREQUAL "openmpi")
  string(APPEND SLUICE_EQUALITY_LAUNCHER " --oversubscribe")
endif()

function(sluice_equality_test name program)
  cmake_parse_arguments(arg "PRELOAD" "FOLDER" "RANKS;ARGUMENTS;OPTIONS;LABELS;BEFORE" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_equality_test(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 4)
  endif()
  _sluice_test_rank_counts(arg_RANKS plugin/${name} "${arg_RANKS}" "")
  if(NOT arg_FOLDER)
    set(arg_FOLDER equality)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if("plugin/${arg_FOLDER}/${name}" MATCHES "${SLUICE_LONG_NAMES}")
    list(TRANSFORM arg_LABELS REPLACE "^quick$" long)
  endif()
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(layer --run ${SLUICE_RUN})
  if(arg_PRELOAD)
    set(layer --preload ${SLUICE_PLUGIN})
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    set(test ${SLUICE_TEST_PREFIX}/plugin/${arg_FOLDER}/${name}/${ranks})
    _sluice_test_environment(environment)
    _sluice_test_processors(processors ${ranks})
    _sluice_test_labels(labels "${arg_LABELS}" ${ranks} "${arg_RANKS}")
    add_test(NAME ${test} COMMAND ${arg_BEFORE} ${SLUICE_PYTHON} ${SLUICE_COMPARE} --launcher ${SLUICE_EQUALITY_LAUNCHER}
             --ranks ${ranks} "${layer}" --plugin ${SLUICE_PLUGIN} ${arg_OPTIONS}
             -- ${program} ${arg_ARGUMENTS} COMMAND_EXPAND_LISTS)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${SLUICE_TEST_TIMEOUT} PROCESSORS ${processors} LABELS "${labels};${SLUICE_MPI}"
      ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "${SLUICE_TEST_SKIPPED}"
      FAIL_REGULAR_EXPRESSION "${SLUICE_TEST_FAILED}")
  endforeach()
endfunction()

# A program in C that links MPI and nothing of Sluice.
function(sluice_equality_program target)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugin)
  target_include_directories(${target} PRIVATE ${SLUICE_EQUALITY_FOLDER})
  # GCC takes MPI_STATUSES_IGNORE, MPI_UNWEIGHTED and the like for addresses of memory.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>)
  target_link_libraries(${target} PRIVATE MPI::MPI_C sluice_warnings)
endfunction()
