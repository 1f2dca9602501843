# SPDX-License-Identifier: BSD-3-Clause
# The configuration of CPack that makes the Debian packages from the build folders of `make build`:
#   cpack --config packaging/debian/packages.cmake -B build/packages
# A component of the installation becomes a package. The same component of the folders for Open MPI and MPICH becomes one
# package (headers, debug information); what must be installed for one MPI alone has the MPI's name.
get_filename_component(_source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${_source}/include/sluice/version.h _line REGEX "^#define SLUICE_VERSION_${part} [0-9]+$")
  string(REGEX REPLACE ".* " "" CPACK_PACKAGE_VERSION_${part} "${_line}")
endforeach()
set(CPACK_PACKAGE_VERSION ${CPACK_PACKAGE_VERSION_MAJOR}.${CPACK_PACKAGE_VERSION_MINOR}.${CPACK_PACKAGE_VERSION_PATCH})
set(_abi ${CPACK_PACKAGE_VERSION_MAJOR}.${CPACK_PACKAGE_VERSION_MINOR})

set(CPACK_GENERATOR DEB)
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_FILE_NAME sluice-${CPACK_PACKAGE_VERSION})
set(CPACK_TOPLEVEL_TAG Debian)
set(CPACK_PACKAGE_VENDOR "The Sluice authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Run MPI programs in the memory they have")
set(CPACK_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION_SUMMARY}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# CPack takes CPACK_COMPONENTS_X as the components of projects that name X.
set(CPACK_COMPONENTS_COMMAND command doc debug)
set(CPACK_COMPONENTS_OPENMPI library-openmpi plugin-openmpi development debug)
set(CPACK_COMPONENTS_MPICH library-mpich plugin-mpich development debug)
set(CPACK_COMPONENTS_ALL command doc debug library-openmpi library-mpich plugin-openmpi plugin-mpich development)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(_folder command openmpi mpich)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${_source}/build/${_folder} Sluice ${_folder} /)
endforeach()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Sluice authors <sluice@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY =)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/licences.cmake)
set(SLUICE_LICENCE ${_source}/LICENSE)

# sluice_package(COMPONENT PACKAGE SECTION DEPENDS RECOMMENDS SUMMARY DESCRIPTION)
macro(sluice_package component package section depends recommends summary description)
  string(TOUPPER ${component} _upper)
  set(CPACK_DEBIAN_${_upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${_upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${_upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${_upper}_PACKAGE_RECOMMENDS "${recommends}")
  set(CPACK_DEBIAN_${_upper}_DESCRIPTION "${summary}\n${description}")
  set(CPACK_DEBIAN_${_upper}_FILE_NAME DEB-DEFAULT)
endmacro()

set(_same "(= ${CPACK_PACKAGE_VERSION})")
sluice_package(command sluice utils "" "sluice-openmpi | sluice-mpich" "run MPI programs in the memory they have"
  "The command: sluice run watches an unmodified MPI program, tells where the memory and the time of its communication go, and serves \
its all-to-alls in place. It needs sluice-openmpi or sluice-mpich, for the MPI of the program.")
sluice_package(doc sluice-doc doc "" "" "guide and examples of Sluice" "The pages of the guide, and examples that CMake builds.")
sluice_package(debug sluice-dbg debug "sluice ${_same}" "" "debug information of Sluice"
  "Debug information of the command, the libraries and the plugins, where debuggers look for it.")
foreach(_mpi "openmpi:Open MPI" "mpich:MPICH")
  string(REPLACE ":" ";" _mpi "${_mpi}")
  list(GET _mpi 0 _flavour)
  list(GET _mpi 1 _name)
  sluice_package(library-${_flavour} libsluice-${_flavour}${_abi} libs "" "" "bounded communication memory, for ${_name}"
    "The library: redistribution in place, publish and fetch, paged files, within a memory budget.")
  sluice_package(plugin-${_flavour} sluice-${_flavour} utils "sluice ${_same}" "" "sluice run for programs of ${_name}"
    "The plugin that sluice run loads into programs of ${_name}, and the programs that sluice memory, doctor and bench start.")
endforeach()
sluice_package(development libsluice-dev libdevel
  "libsluice-openmpi${_abi} ${_same}, libsluice-mpich${_abi} ${_same}" "libopenmpi-dev | libmpich-dev"
  "headers of Sluice, for both MPIs" "Headers of C++20 and C99, the CMake package and the files of pkg-config.")
