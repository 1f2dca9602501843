# SPDX-License-Identifier: BSD-3-Clause
# A part of cmake --install, see SluiceStripped.cmake. Reads: objcopy; built, the file in the build folder; folder, where
# it is installed; mode: installed (takes the debug information out of the installed file), archive (the same for an
# archive, which cannot name a file with its debug information) or debug (installs the debug information).
get_filename_component(_name ${built} NAME)

function(_sluice_objcopy)
  execute_process(COMMAND ${objcopy} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The installed file keeps the date of the built one, so that a second installation finds it up to date.
if(mode STREQUAL "archive")
  _sluice_objcopy(--strip-debug --preserve-dates ${folder}/${_name})
elseif(mode STREQUAL "installed")
  # The installed file names the file with its debug information, and that file's checksum.
  set(_scratch ${built}.information)
  set(_information ${_scratch}/${_name}.debug)
  file(MAKE_DIRECTORY ${_scratch})
  _sluice_objcopy(--only-keep-debug ${built} ${_information})
  _sluice_objcopy(--strip-unneeded --preserve-dates --remove-section=.gnu_debuglink ${folder}/${_name})
  _sluice_objcopy(--preserve-dates --add-gnu-debuglink=${_information} ${folder}/${_name})
  file(REMOVE_RECURSE ${_scratch})
else()
  message(STATUS "Installing: ${folder}/.debug/${_name}.debug")
  file(MAKE_DIRECTORY ${folder}/.debug)
  _sluice_objcopy(--only-keep-debug ${built} ${folder}/.debug/${_name}.debug)
endif()
