# SPDX-License-Identifier: BSD-3-Clause
# find_package(Sluice): target Sluice::sluice, the library that was built for the MPI in use. Looks for MPI unless the
# project already did; to choose another MPI than the one in PATH, set MPI_CXX_COMPILER (MPI_C_COMPILER in a C project)
# before.
include(CMakeFindDependencyMacro)

get_property(_sluice_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST _sluice_languages)
  set(_sluice_language CXX)
else()
  set(_sluice_language C)
endif()
if(NOT TARGET MPI::MPI_${_sluice_language})
  find_dependency(MPI COMPONENTS ${_sluice_language})
endif()

include(${CMAKE_CURRENT_LIST_DIR}/SluiceMpiFlavour.cmake)
sluice_mpi_flavour(Sluice_MPI ${_sluice_language})
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/SluiceTargets-${Sluice_MPI}.cmake)
  file(GLOB _sluice_built RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/SluiceTargets-*.cmake)
  list(FILTER _sluice_built EXCLUDE REGEX "-(release|debug|relwithdebinfo|minsizerel|noconfig)[.]cmake$")
  list(TRANSFORM _sluice_built REPLACE "SluiceTargets-(.*)[.]cmake" "\\1")
  list(JOIN _sluice_built ", " _sluice_built)
  set(Sluice_FOUND FALSE)
  set(Sluice_NOT_FOUND_MESSAGE
      "the MPI in use is ${Sluice_MPI}, but this Sluice was built for ${_sluice_built}; set MPI_${_sluice_language}_COMPILER")
  return()
endif()

# The libraries that the installed library links, whichever languages this project has.
if(NOT TARGET Sluice::mpi)
  add_library(Sluice::mpi INTERFACE IMPORTED)
  target_link_libraries(Sluice::mpi INTERFACE MPI::MPI_${_sluice_language})
endif()
include(${CMAKE_CURRENT_LIST_DIR}/SluiceTargets-${Sluice_MPI}.cmake)
