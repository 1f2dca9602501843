# SPDX-License-Identifier: BSD-3-Clause
# sluice_test(NAME SOURCES file… [RANKS n…] [LABELS label…] [LIBRARIES target…] [ARGUMENTS arg…] [ENVIRONMENT var=value…]
#             [PROCESSOR_SECONDS seconds] [BEFORE command…])
#
# Makes one GoogleTest executable, linked to the library and able to include its internals ("mpi/mpi.hpp"), and for each
# number of ranks one ctest test named PREFIX/NAME/<ranks>, where PREFIX is the MPI's name (with sanitizers
# openmpi-address-undefined, …). Without RANKS the program runs once, without a launcher and without MPI_Init, as
# PREFIX/NAME. Its labels are LABELS (quick unless given) and the name of the MPI.
# BEFORE is a command that starts the launcher in its turn, with a machine that differs.
#
# A case that needs more ranks than the program is started with is left out by SLUICE_NEEDS_RANKS
# (support/needs_ranks.hpp). A case that skips itself because this machine lacks something makes the whole test
# "Skipped" in ctest's summary; the test's output and the end of `make test` say why.
#
# No test has a limit of elapsed time, because a machine that is busy with other work makes every test slow.
# PROCESSOR_SECONDS is the processor time that a rank may use; ranks that all sleep are ended after a minute
# (support/main/watchdog.hpp). ctest's own TIMEOUT is the last resort.
#
# Not every build folder runs a test at each of RANKS (SluiceTestRanks.cmake). MPICH waits by spinning, so it is a hundred
# times slower with more ranks than cores, and the variable SLUICE_TEST_EFFORT tells the program to try fewer cases
# (support/effort.hpp).
#
# A test labelled quick is quick at one number of ranks, the first of SLUICE_QUICK_RANKS that it has, and long at its
# other ones, so that `make test` stays short; `make test-all` runs it at all of them. With MPICH only the tests that
# SLUICE_QUICK_NAMES matches are quick: those of what differs most between MPIs. Tests that SLUICE_LONG_NAMES matches are
# never quick: they test the tests, the benchmarks and the models, and nothing that is installed, or programs of a kind that
# few users have. If SLUICE_LONG_TESTS is OFF, a program is not built that has no quick test.

include(SluiceTestRanks)
sluice_needs(GTest libgtest-dev SLUICE_TESTS)
sluice_needs(rapidcheck librapidcheck-dev SLUICE_TESTS)

# Names of tests begin with the MPI and the sanitizers, if there are any, so that one ctest can run over all build
# folders.
set(SLUICE_TEST_PREFIX ${SLUICE_MPI})
if(SLUICE_SANITIZE)
  string(REPLACE "," "-" SLUICE_TEST_PREFIX "${SLUICE_MPI}-${SLUICE_SANITIZE}")
endif()

set(SLUICE_QUICK_RANKS 4 2)
set(SLUICE_QUICK_NAMES .)
set(SLUICE_LONG_NAMES "^(bench/cases|bench/support|model|support)(/|$)|^exchanges/exchange_faults$")
# Programs of odd ends, other tools, ranks that differ; all services at once; what a failing rank leaves.
string(APPEND SLUICE_LONG_NAMES "|^plugin/equality/(odd|tool|differ|split)_|^plugin/overlap/(ends|pointers|all_services)/"
              "|^plugin/flood/(all_services/|growth_after/|(receiver|sender)_dies$|spawned$|unsafe/(behind|random))")
if(SLUICE_MPI STREQUAL "mpich")
  set(SLUICE_QUICK_RANKS 2)
  set(SLUICE_QUICK_NAMES "^(bench|c|cli|collectives|examples|paged|plugin|probes|redistribution|report)/|^fetch/(store|wire)$")
endif()
# What ctest counts for a job of 2 to 4 ranks. Its PROCESSORS are thirds of a processor, and cmake/run_tests.sh gives it three
# for each. A job sleeps for half of its time, in its launch, and its ranks leave the processor to others while they wait, so
# six of them fill two processors. Without patience ranks of MPICH spin: their job has both. COST is about what a long test
# takes in seconds: ctest begins with those, so that none is left alone at the end.
option(SLUICE_TEST_PATIENCE "Preload into tests what lets ranks sleep while they wait" ON)
set(SLUICE_JOB_PROCESSORS 2)
if(SLUICE_MPI STREQUAL "openmpi" OR SLUICE_MPI STREQUAL "mpich" AND SLUICE_TEST_PATIENCE)
  set(SLUICE_JOB_PROCESSORS 1)
elseif(SLUICE_MPI STREQUAL "mpich")
  set(SLUICE_JOB_PROCESSORS 6)
endif()
option(SLUICE_TESTS_WITHOUT_MPI "Also build and run the tests that need no MPI" ON)
# Ranks that wait by spinning use more processor time if they share the processor with the rank that they wait for.
set(SLUICE_TEST_PROCESSOR_SECONDS 200 CACHE STRING "Processor time in seconds that a rank of a test may use")
set(SLUICE_TEST_TIMEOUT 900)  # two tests that hang one after the other leave room for the rest of a run

# The output of a program in which a case was skipped and none failed. A ^ would match only the beginning of all output.
set(SLUICE_TEST_SKIPPED "(^|\n)skipped: ")
# What fails a test that exits with 0: the simulator may say so, and reports look at their own figures.
set(SLUICE_TEST_FAILED "Deadlock detected;a fault of Sluice, please report it")

# A test program is compiled often and runs for seconds, so its own code is optimized little; the library is optimized
# as for users.
add_library(sluice_test_options INTERFACE)
target_compile_options(sluice_test_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)  # a size is a number in them
if(NOT SLUICE_SANITIZE)
  # With so little optimization GCC warns of variables that are in fact initialized.
  target_compile_options(sluice_test_options INTERFACE -O1 -g0 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
include(CheckLinkerFlag)
# Test programs are many and large: gold links one in a quarter of the time that GNU ld takes.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  check_linker_flag(CXX -fuse-ld=gold SLUICE_HAVE_GOLD)
  if(SLUICE_HAVE_GOLD)
    target_link_options(sluice_test_options INTERFACE -fuse-ld=gold)
  endif()
endif()
# The headers of most tests are compiled once, except for the simulator, whose headers change their meaning.
set(SLUICE_TEST_PRECOMPILE ON)
if(SLUICE_MPI STREQUAL "simgrid")
  set(SLUICE_TEST_PRECOMPILE OFF)
endif()
if(SLUICE_TEST_PRECOMPILE)
  target_compile_options(sluice_test_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  add_executable(sluice_test_precompiled ${PROJECT_SOURCE_DIR}/tests/support/precompiled.cpp)
  set_target_properties(sluice_test_precompiled PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(sluice_test_precompiled PRIVATE sluice_rooms sluice_warnings sluice_test_options GTest::gtest)
  target_precompile_headers(sluice_test_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/precompiled.hpp)
  if(SLUICE_CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Clang takes NAME.pch for NAME, as GCC does, and ccache knows the path, which the options that CMake has for Clang hide.
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
    set_target_properties(sluice_test_precompiled PROPERTIES
      CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/sum_precompiled.sh;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endif()

# The main function for parallel tests and the code that tests share are compiled once. They are objects and not an
# archive, because the simulator looks main up by name, so nothing would pull it out of an archive.
set(_support ${PROJECT_SOURCE_DIR}/tests/support)
set(SLUICE_WATCHED ${_support}/watched.py)  # before a command: ends the command if it hangs
add_library(sluice_test_main OBJECT ${_support}/main/mpi_main.cpp ${_support}/needs_ranks.cpp ${_support}/main/skipped_cases.cpp
                                    ${_support}/main/thread_states.cpp ${_support}/main/watchdog.cpp)
target_include_directories(sluice_test_main PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(sluice_test_main PUBLIC sluice_rooms GTest::gtest PRIVATE sluice_warnings)

# The same for tests without MPI.
add_library(sluice_plain_test_main OBJECT ${_support}/main/plain_main.cpp ${_support}/main/skipped_cases.cpp
                                          ${_support}/main/thread_states.cpp ${_support}/main/watchdog.cpp)
target_include_directories(sluice_plain_test_main PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(sluice_plain_test_main PUBLIC GTest::gtest PRIVATE sluice_warnings)

if(SLUICE_MPI STREQUAL "simgrid")
  target_compile_definitions(sluice_test_main PRIVATE SLUICE_SIMULATED)
  set(SLUICE_TEST_HOSTS ${CMAKE_BINARY_DIR}/tests/hosts.txt)  # the hosts of tests/support/cluster.xml, one on each line
  set(hosts "")
  foreach(host RANGE 1023)
    string(APPEND hosts "host-${host}\n")
  endforeach()
  file(WRITE ${SLUICE_TEST_HOSTS} "${hosts}")
endif()

# Ranks that wait leave the processors to other tests.
if(SLUICE_TEST_PATIENCE AND SLUICE_MPI MATCHES "^(openmpi|mpich)$")
  add_library(sluice_test_patience MODULE ${_support}/main/patience.c)
  if(SLUICE_SANITIZE)  # the launcher, which has no sanitizer, loads it, too
    target_compile_options(sluice_test_patience PRIVATE -fno-sanitize=all)
    target_link_options(sluice_test_patience PRIVATE -fno-sanitize=all)
  endif()
  target_link_libraries(sluice_test_patience PRIVATE ${CMAKE_DL_LIBS} sluice_warnings)
  set_target_properties(sluice_test_patience PROPERTIES C_STANDARD 11 C_EXTENSIONS ON UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()

# _sluice_test_environment(VARIABLE [PROCESSOR_SECONDS]): the environment of every test. A rank may use more processor
# time with sanitizers, and under the simulator, which runs all ranks in one process.
function(_sluice_test_environment result)
  set(processor_seconds ${ARGN})
  if(NOT processor_seconds)
    set(processor_seconds ${SLUICE_TEST_PROCESSOR_SECONDS})
  endif()
  if(SLUICE_SANITIZE OR SLUICE_MPI STREQUAL "simgrid")
    math(EXPR processor_seconds "${processor_seconds} * 4")
  endif()
  # Scripts find watched.py next to the watchdog, and write nothing into the source tree. The OpenCL plugin of hwloc, which
  # MPI_Init loads where it and a driver are installed, brings libLLVM: 60 MiB more in each rank, which tests of memory take for
  # the MPI's, and thread-local storage at which LeakSanitizer ends. In a virtual machine each look at a PCI device is an exit to
  # the host: a quarter to a third of the processor time of a launch.
  set(environment HWLOC_COMPONENTS=-opencl,-pci,-linux:pci "SLUICE_TEST_SECONDS=${processor_seconds}" "SLUICE_TEST_WATCHED=${SLUICE_WATCHED}" "PYTHONPATH=${_support}"
      PYTHONDONTWRITEBYTECODE=1)
  if(SLUICE_MPI STREQUAL "openmpi")
    list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
         OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1)
    # Each of Intel's two libraries waits for its device for a tenth of a second in MPI_Init. Debian leaves out ofi itself.
    list(APPEND environment OMPI_MCA_mtl=^ofi,psm,psm2)
  elseif(SLUICE_MPI STREQUAL "mpich")
    list(APPEND environment MPIR_CVAR_POLLS_BEFORE_YIELD=1)
  endif()
  if(TARGET sluice_test_patience)
    list(APPEND environment LD_PRELOAD=$<TARGET_FILE:sluice_test_patience>)
  endif()
  if(SLUICE_SANITIZE)
    # Some tests make threads in a child of fork(); the watchdog is a thread of the parent.
    list(APPEND environment SLUICE_TEST_EFFORT=small
         "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0:handle_segv=0"
         "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/suppressions/lsan.supp:print_suppressions=0"
         "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
         "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/suppressions/tsan.supp:halt_on_error=1:die_after_fork=0:history_size=7")
  elseif(NOT SLUICE_MPI STREQUAL "openmpi")
    list(APPEND environment SLUICE_TEST_EFFORT=small)
  endif()
  set(${result} ${environment} PARENT_SCOPE)
endfunction()

# _sluice_test_processors(VARIABLE RANKS): the thirds of a processor that ctest counts for a job.
function(_sluice_test_processors result ranks)
  set(processors 1)
  if(SLUICE_MPI STREQUAL "simgrid")
    set(processors 2) # one process, which computes
  elseif(ranks GREATER 16)
    set(processors 3)
  elseif(ranks GREATER 4)
    set(processors 2)
  elseif(ranks GREATER 1)
    set(processors ${SLUICE_JOB_PROCESSORS})
  endif()
  set(${result} ${processors} PARENT_SCOPE)
endfunction()

# _sluice_test_labels(VARIABLE LABELS RANKS ALL_RANKS): the labels of a test at one of its numbers of ranks. The smallest
# number is quick if it has none of SLUICE_QUICK_RANKS.
function(_sluice_test_labels result labels ranks all_ranks)
  list(SORT all_ranks COMPARE NATURAL)
  list(GET all_ranks 0 quick)
  foreach(count IN LISTS SLUICE_QUICK_RANKS)
    if(count IN_LIST all_ranks)
      set(quick ${count})
      break()
    endif()
  endforeach()
  if(NOT ranks EQUAL quick)
    list(TRANSFORM labels REPLACE "^quick$" long)
  endif()
  set(${result} ${labels} PARENT_SCOPE)
endfunction()

# The command that starts `ranks` processes of a program.
function(_sluice_test_launcher result ranks)
  if(SLUICE_MPI STREQUAL "simgrid")
    # The allgather that it takes by itself, with which the ranks agree after each case, has all messages under way at once: 9 s
    # for 128 ranks.
    set(launcher ${SLUICE_MPIEXEC} -np ${ranks} -platform ${PROJECT_SOURCE_DIR}/tests/support/cluster.xml
        -hostfile ${SLUICE_TEST_HOSTS} --log=root.thresh:error
        --cfg=smpi/host-speed:1f --cfg=smpi/simulate-computation:no --cfg=smpi/allgather:bruck)
  elseif(SLUICE_MPI STREQUAL "openmpi")
    set(launcher ${SLUICE_MPIEXEC} --oversubscribe -n ${ranks})
  elseif(SLUICE_MPI STREQUAL "mpich")
    set(launcher ${SLUICE_MPIEXEC} -n ${ranks})
  else()
    set(launcher ${SLUICE_MPIEXEC} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS})
  endif()
  set(${result} ${launcher} PARENT_SCOPE)
endfunction()

# The program of a test; uses the arguments of sluice_test. Tests with the same sources share it: sets target.
macro(_sluice_test_program)
  set(parallel OFF)
  # A program of the simulator is a shared object that only its launcher can start.
  if(arg_RANKS OR SLUICE_MPI STREQUAL "simgrid")
    set(parallel ON)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE key REGEX "^[^/]")
  string(MD5 key "${key} ${arg_LIBRARIES} ${parallel}")
  get_property(same GLOBAL PROPERTY SLUICE_TEST_PROGRAM_${key})
  if(same)
    set(target ${same})
  else()
    set_property(GLOBAL PROPERTY SLUICE_TEST_PROGRAM_${key} ${target})
    add_executable(${target} ${arg_SOURCES})
    if(NOT SLUICE_LONG_TESTS)
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    # Nearly every test has one source, for which a unity build gains nothing.
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests ENABLE_EXPORTS ON UNITY_BUILD OFF)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE sluice_rooms sluice_warnings sluice_test_options ${arg_LIBRARIES})
    if(parallel)
      target_link_libraries(${target} PRIVATE sluice_test_main)
    else()
      target_link_libraries(${target} PRIVATE sluice_plain_test_main)
    endif()
    if(SLUICE_TEST_PRECOMPILE)
      target_precompile_headers(${target} REUSE_FROM sluice_test_precompiled)
    endif()
  endif()
endmacro()

function(sluice_test name)
  cmake_parse_arguments(arg "" "PROCESSOR_SECONDS"
                        "SOURCES;RANKS;LABELS;LIBRARIES;ARGUMENTS;ENVIRONMENT;BEFORE" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_test(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT arg_PROCESSOR_SECONDS)
    set(arg_PROCESSOR_SECONDS ${SLUICE_TEST_PROCESSOR_SECONDS})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if(NOT name MATCHES "${SLUICE_QUICK_NAMES}" OR name MATCHES "${SLUICE_LONG_NAMES}")
    list(TRANSFORM arg_LABELS REPLACE "^quick$" long)
  endif()

  string(REPLACE "/" "-" target "test-${name}")
  # Tests without MPI behave alike with each MPI, so one build folder runs them.
  if(NOT arg_RANKS AND NOT SLUICE_TESTS_WITHOUT_MPI)
    return()
  endif()
  _sluice_test_program()
  if("quick" IN_LIST arg_LABELS)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL OFF)
  endif()

  if(NOT arg_RANKS)
    set(command $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
    if(SLUICE_MPI STREQUAL "simgrid")
      _sluice_test_launcher(launcher 1)
      set(command ${launcher} ${command})
    endif()
    set(labels ${arg_LABELS})
    _sluice_add_test(${SLUICE_TEST_PREFIX}/${name} 1)
    return()
  endif()
  _sluice_add_test_for_each_rank_count()
endfunction()

# Adds one ctest test; uses command, labels and the arg_ variables of sluice_test.
macro(_sluice_add_test full_name test_ranks)
  add_test(NAME ${full_name} COMMAND ${command})
  _sluice_test_environment(environment ${arg_PROCESSOR_SECONDS})
  _sluice_test_processors(processors ${test_ranks})
  set_tests_properties(${full_name} PROPERTIES TIMEOUT ${SLUICE_TEST_TIMEOUT} PROCESSORS ${processors}
    LABELS "${labels};${SLUICE_MPI}" ENVIRONMENT "${environment};${arg_ENVIRONMENT}"
    SKIP_REGULAR_EXPRESSION "${SLUICE_TEST_SKIPPED}" FAIL_REGULAR_EXPRESSION "${SLUICE_TEST_FAILED}")
endmacro()

# Adds the test at each of arg_RANKS, with the launcher; also uses name and target.
macro(_sluice_add_test_for_each_rank_count)
  _sluice_test_rank_counts(rank_counts ${name} "${arg_RANKS}" "${arg_SOURCES}")
  if(NOT rank_counts)
    return() # more than MPICH is tested with
  endif()
  list(GET rank_counts -1 most_ranks)
  list(PREPEND arg_ENVIRONMENT SLUICE_TEST_MOST_RANKS=${most_ranks})
  foreach(ranks IN LISTS rank_counts)
    _sluice_test_launcher(launcher ${ranks})
    set(command ${arg_BEFORE} ${launcher} $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
    _sluice_test_labels(labels "${arg_LABELS}" ${ranks} "${rank_counts}")
    _sluice_add_test(${SLUICE_TEST_PREFIX}/${name}/${ranks} ${ranks})
  endforeach()
endmacro()

# sluice_skipped_test(NAME "reason"): takes the place of tests that need something that this machine lacks, so that the
# summary lists them.
function(sluice_skipped_test name reason)
  add_test(NAME ${SLUICE_TEST_PREFIX}/${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${SLUICE_TEST_PREFIX}/${name} PROPERTIES SKIP_REGULAR_EXPRESSION "${SLUICE_TEST_SKIPPED}"
    LABELS "quick;${SLUICE_MPI}")
endfunction()

# sluice_program_test(NAME TARGET [RANKS n…] [ARGUMENTS arg…] [LABELS label…] [ENVIRONMENT var=value…]
#                     [PROCESSOR_SECONDS seconds])
#
# Runs a program that is not a GoogleTest (an example, a program in C) at each number of ranks, 2 and 4 unless given;
# its exit code says whether it failed. The test is named like one of sluice_test.
function(sluice_program_test name target)
  cmake_parse_arguments(arg "" "PROCESSOR_SECONDS" "RANKS;LABELS;ARGUMENTS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_program_test(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 2 4)
  endif()
  if(NOT arg_PROCESSOR_SECONDS)
    set(arg_PROCESSOR_SECONDS ${SLUICE_TEST_PROCESSOR_SECONDS})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  _sluice_add_test_for_each_rank_count()
endfunction()

# sluice_device_stand_in(TARGET FILE): a library that takes the place of a device's, under its name FILE (libcuda.so.1).
# Each is in a folder of its own, for nothing may find it that does not look for it.
function(sluice_device_stand_in target file)
  if(NOT TARGET ${target})
    add_library(${target} SHARED ${PROJECT_SOURCE_DIR}/tests/support/device_stand_in.cpp)
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file}
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE sluice_warnings)
  endif()
endfunction()
