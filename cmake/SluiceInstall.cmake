# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: the library, its headers, and three ways to find it: CMake package, pkg-config, environment module.
# All of them find the other files relative to themselves, so the installed tree may be moved. Several MPIs share one
# prefix: files that differ have the MPI's name. Components become packages: packaging/debian.
include(CMakePackageConfigHelpers)
set(_sluice_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
set(_sluice_packaging ${CMAKE_BINARY_DIR}/packaging)

install(TARGETS sluice EXPORT SluiceTargets-${SLUICE_MPI}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library-${SLUICE_MPI} NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library-${SLUICE_MPI})
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library-${SLUICE_MPI})
sluice_strip_installed(sluice ${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")

install(EXPORT SluiceTargets-${SLUICE_MPI} NAMESPACE Sluice:: DESTINATION ${_sluice_cmake_dir})
# The same promise as that of the soname: docs/compatibility.md.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(_sluice_compatibility SameMinorVersion)
else()
  set(_sluice_compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${_sluice_packaging}/SluiceConfigVersion.cmake COMPATIBILITY ${_sluice_compatibility})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/SluiceConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/SluiceMpiFlavour.cmake
  ${_sluice_packaging}/SluiceConfigVersion.cmake DESTINATION ${_sluice_cmake_dir})

# Returns the way from a folder below the prefix up to the prefix: lib/pkgconfig gives ../.. .
function(_sluice_way_up variable folder)
  file(RELATIVE_PATH way /prefix/${folder} /prefix)
  string(REGEX REPLACE "/$" "" way "${way}")
  set(${variable} ${way} PARENT_SCOPE)
endfunction()

_sluice_way_up(SLUICE_PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/packaging/sluice.pc.in ${_sluice_packaging}/sluice-${SLUICE_MPI}.pc @ONLY)
install(FILES ${_sluice_packaging}/sluice-${SLUICE_MPI}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(_sluice_modules ${CMAKE_INSTALL_DATADIR}/modulefiles/sluice)
_sluice_way_up(SLUICE_PREFIX_FROM_MODULES ${_sluice_modules})
configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in ${_sluice_packaging}/${PROJECT_VERSION} @ONLY)
install(FILES ${_sluice_packaging}/${PROJECT_VERSION} DESTINATION ${_sluice_modules} COMPONENT module)
unset(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME)
