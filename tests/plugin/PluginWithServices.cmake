# SPDX-License-Identifier: BSD-3-Clause
# sluice_plugin_with_services(NAME source…) makes libsluice-preload-NAME.so in tests/plugin, the plugin with another list of
# services: one of the sources defines make_services(). The target is sluice_preload_NAME.
include_guard(DIRECTORY)

function(sluice_plugin_with_services name)
  set(target sluice_preload_${name})
  set(generated ${PROJECT_BINARY_DIR}/src/plugin/generated)
  add_library(${target} SHARED ${ARGN} $<TARGET_OBJECTS:sluice_preload>
              $<FILTER:$<TARGET_OBJECTS:sluice_straight_plugin>,EXCLUDE,services/list\\.cpp>)
  sluice_add_rooms(${target} room base kernel budget record memory report)
  sluice_add_rooms(${target} straight mpi types groups node engine collectives)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME sluice-preload-${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugin CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -include ${generated}/straight.h)
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} PRIVATE ${generated} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests
                             ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${target} SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
  add_dependencies(${target} sluice_wrappers_written)
  target_link_libraries(${target} PRIVATE sluice_never_cancelled sluice_warnings)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,defs
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/plugin/exports.map)
endfunction()
