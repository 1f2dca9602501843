# SPDX-License-Identifier: BSD-3-Clause
# Warnings and sanitizers of Sluice's own code, which are never passed on to projects that link the library.
add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# No installed file names a folder of the machine that built it.
target_compile_options(sluice_warnings INTERFACE
  -ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
# Programs and libraries hold the functions that they use, not all of a room.
target_compile_options(sluice_warnings INTERFACE -ffunction-sections -fdata-sections)
target_link_options(sluice_warnings INTERFACE -Wl,--gc-sections)
# Not with GCC and sanitizers: in what they add to the code GCC 12 sees values that are not set and stores beyond the end
# where there are none. The build without them refuses the same warnings.
if(SLUICE_WERROR AND NOT (SLUICE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
  target_compile_options(sluice_warnings INTERFACE -Werror)
endif()
if(SLUICE_SANITIZE)  # for all targets of this folder and those below, also tests in C; a parent project is not changed
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fno-sanitize=vptr,function)  # programs in C would have to link the C++ library for them
    # GCC defines these by itself.
    foreach(kind address thread)
      if(SLUICE_SANITIZE MATCHES ${kind})
        string(TOUPPER ${kind} upper)
        add_compile_definitions(__SANITIZE_${upper}__)
      endif()
    endforeach()
  endif()
  if(SLUICE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Fences order what processes share, and the thread sanitizer watches one process.
    add_compile_options(-Wno-tsan)
  endif()
endif()
