# SPDX-License-Identifier: BSD-3-Clause
# A room is a folder below src/, an object library and a namespace. The library, the plugin and the command are made of
# whole rooms; tests/rooms checks that the includes between rooms only go down.
#
# sluice_room(NAME [MPI] [FOR_SIZE] [LIBRARIES target…]): makes the object library sluice_room_NAME of all sources below src/NAME.
#   MPI        its sources include mpi.h
#   FOR_SIZE   optimized for size, because a process runs it once: the templates of JSON and of option parsers take a third
#              less space and time to compile
#   LIBRARIES  libraries that its sources use in addition
function(sluice_room name)
  _sluice_compile_room(sluice_room_${name} ${name} ${ARGN})
endfunction()

# sluice_straight_room(NAME …): compiles the same sources a second time, for the preload plugin: their MPI calls go
# directly to libmpi, past every wrapper (straight.h, written by generate.py).
function(sluice_straight_room name)
  _sluice_compile_room(sluice_straight_${name} ${name} MPI ${ARGN})
  target_compile_options(sluice_straight_${name} PRIVATE -include ${SLUICE_GENERATED}/straight.h)
  target_include_directories(sluice_straight_${name} PRIVATE ${SLUICE_GENERATED})
  target_compile_definitions(sluice_straight_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  add_dependencies(sluice_straight_${name} sluice_wrappers_written)
endfunction()

# sluice_add_rooms(TARGET KIND NAME…): puts rooms into a library or program; KIND is room or straight.
function(sluice_add_rooms target kind)
  foreach(name IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sluice_${kind}_${name}>)
  endforeach()
endfunction()

# sluice_optimize_for_size(TARGET): -Os, except where nothing is optimized.
function(sluice_optimize_for_size target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Os>)
endfunction()

function(_sluice_compile_room target name)
  if(TARGET ${target})
    return()
  endif()
  cmake_parse_arguments(arg "MPI;FOR_SIZE" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(${target} OBJECT ${sources})
  # The exported parts of the library are marked SLUICE_API (sluice/export.h).
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE sluice_warnings PUBLIC ${arg_LIBRARIES})
  if(SLUICE_MPI STREQUAL "simgrid")
    target_compile_definitions(${target} PRIVATE SLUICE_SIMULATED)  # many ranks in one process, and no threads
  endif()
  if(arg_FOR_SIZE)
    sluice_optimize_for_size(${target})
  endif()
  if(arg_MPI)
    target_link_libraries(${target} PUBLIC sluice_mpi)
  endif()
endfunction()
