# SPDX-License-Identifier: BSD-3-Clause
# sluice_mpi_flavour(VARIABLE LANGUAGE): finds out which MPI the target MPI::MPI_<LANGUAGE> is: openmpi, mpich or mpi
# (any other). It is used by the build and, installed next to SluiceConfig.cmake, by projects that link the library.
include(CheckSymbolExists)
include(CheckCXXSymbolExists)

function(sluice_mpi_flavour variable language)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_${language})
  set(CMAKE_REQUIRED_QUIET ON)
  if(language STREQUAL "CXX")
    check_cxx_symbol_exists(OMPI_MAJOR_VERSION mpi.h SLUICE_MPI_IS_OPENMPI)
    check_cxx_symbol_exists(MPICH_VERSION mpi.h SLUICE_MPI_IS_MPICH)
  else()
    check_symbol_exists(OMPI_MAJOR_VERSION mpi.h SLUICE_MPI_IS_OPENMPI)
    check_symbol_exists(MPICH_VERSION mpi.h SLUICE_MPI_IS_MPICH)
  endif()
  if(SLUICE_MPI_IS_OPENMPI)
    set(${variable} openmpi PARENT_SCOPE)
  elseif(SLUICE_MPI_IS_MPICH)
    set(${variable} mpich PARENT_SCOPE)
  else()
    set(${variable} mpi PARENT_SCOPE)
  endif()
endfunction()
