# SPDX-License-Identifier: BSD-3-Clause
# CPack runs this before it makes the packages: each gets the licence, where Debian's packages have it.
foreach(_component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${_component} _upper)
  set(_folder ${CPACK_TEMPORARY_DIRECTORY}/${_component}/usr/share/doc/${CPACK_DEBIAN_${_upper}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${_folder})
  file(COPY_FILE ${SLUICE_LICENCE} ${_folder}/copyright)
endforeach()
