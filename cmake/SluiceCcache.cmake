# SPDX-License-Identifier: BSD-3-Clause
# Compiles through ccache if it is installed, unless the caller chose a launcher or Sluice is part of another project.
# Paths are made relative and the folder of the build is not hashed, so that a second checkout finds the objects of the
# first. Objects that use a precompiled header are only kept if macros and times in that header do not matter.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SLUICE_CCACHE ccache)
  if(SLUICE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true ${SLUICE_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
