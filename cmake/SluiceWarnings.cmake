# SPDX-License-Identifier: BSD-3-Clause
# Warnings and sanitizers of our own code; never passed on to whoever links the library.
add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# No file that is installed names a folder of the machine that built it.
target_compile_options(sluice_warnings INTERFACE
  -ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
if(SLUICE_WERROR)
  target_compile_options(sluice_warnings INTERFACE -Werror)
endif()
if(SLUICE_SANITIZE)  # for all targets of this folder and those below, tests in C too; a parent project is not touched
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Fences order what processes share, and the thread sanitizer watches one process.
    add_compile_options(-Wno-tsan)
  endif()
endif()
