# SPDX-License-Identifier: BSD-3-Clause
# Test programs in Fortran, built by the MPI's own wrapper.
#
#   SLUICE_MPIFORT      the wrapper, or false if there is none or it finds no compiler
#   SLUICE_NO_FORTRAN   the reason for a skipped test then
# sluice_fortran_program(TARGET SOURCE [flag…]) makes ${CMAKE_BINARY_DIR}/tests/plugin/TARGET of one source.
include_guard(DIRECTORY)

get_filename_component(wrapper "${MPI_C_COMPILER}" NAME)
string(REPLACE "mpicc" "mpifort" wrapper "${wrapper}")
find_program(SLUICE_MPIFORT ${wrapper})
set(SLUICE_NO_FORTRAN "${wrapper} finds no Fortran compiler (Debian: gfortran)")
if(SLUICE_MPIFORT)
  execute_process(COMMAND ${SLUICE_MPIFORT} --version RESULT_VARIABLE no_fortran OUTPUT_QUIET ERROR_QUIET)
  if(no_fortran)
    set(SLUICE_MPIFORT FALSE)
  endif()
endif()

function(sluice_fortran_program target source)
  set(program ${CMAKE_BINARY_DIR}/tests/plugin/${target})
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  add_custom_command(OUTPUT ${program} DEPENDS ${path} VERBATIM
    COMMAND ${SLUICE_MPIFORT} ${ARGN} -J ${CMAKE_CURRENT_BINARY_DIR} -o ${program} ${path})
  add_custom_target(${target} ALL DEPENDS ${program})
endfunction()
