# SPDX-License-Identifier: BSD-3-Clause
# sluice_strip_installed(TARGET DESTINATION): strips the files that install(TARGETS TARGET) has put into DESTINATION.
# Their debug information can be installed next to them: cmake --install BUILD --component debug puts it into
# DESTINATION/.debug, where debuggers look for it. Call it after that install(TARGETS).
include_guard(DIRECTORY)

function(sluice_strip_installed target destination)
  if(NOT CMAKE_OBJCOPY)
    return()
  endif()
  set(given "
    set(objcopy \"${CMAKE_OBJCOPY}\")
    set(built \"$<TARGET_FILE:${target}>\")
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${destination}\")")
  set(script "include(\"${PROJECT_SOURCE_DIR}/cmake/strip_installed.cmake\")")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    install(CODE "${given}\n    set(mode archive)\n    ${script}")
    return()
  endif()
  install(CODE "${given}\n    set(mode installed)\n    ${script}")
  install(CODE "${given}\n    set(mode debug)\n    ${script}" COMPONENT debug EXCLUDE_FROM_ALL)
endfunction()
