# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPI to build against and says which one it is: SLUICE_MPI is openmpi, mpich, simgrid or mpi (any other);
# SLUICE_MPIEXEC is its launcher, and sluice_mpi is the target to link. Another MPI than the one in PATH is chosen by
# its wrappers: -DMPI_CXX_COMPILER=mpicxx.mpich -DMPI_C_COMPILER=mpicc.mpich. The simulator is chosen by its compiler
# wrapper: -DCMAKE_CXX_COMPILER=smpicxx -DCMAKE_C_COMPILER=smpicc.
include(SluiceMpiFlavour)
add_library(sluice_mpi INTERFACE)

# Distributions that install several MPIs call the launcher like the wrapper (mpicxx.mpich, mpiexec.mpich), and FindMPI
# would take whichever is first in PATH: with another MPI's launcher every process would be a job of its own.
get_filename_component(_sluice_suffix "${MPI_CXX_COMPILER}" LAST_EXT)
if(_sluice_suffix AND NOT MPIEXEC_EXECUTABLE)
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec${_sluice_suffix})
endif()

get_filename_component(_sluice_compiler "${CMAKE_CXX_COMPILER}" NAME)
if(_sluice_compiler STREQUAL "smpicxx")
  set(SLUICE_MPI simgrid)
  find_program(SLUICE_SMPIRUN smpirun REQUIRED)
  set(SLUICE_MPIEXEC ${SLUICE_SMPIRUN})
  # Its headers define malloc as a macro, which other headers cannot cope with.
  target_compile_definitions(sluice_mpi INTERFACE SMPI_NO_OVERRIDE_MALLOC SLUICE_SIMULATED)
else()
  find_package(MPI REQUIRED COMPONENTS C CXX)
  target_link_libraries(sluice_mpi INTERFACE MPI::MPI_CXX)
  # The C++ bindings of old MPIs are not used; without this their headers warn.
  target_compile_definitions(sluice_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set(SLUICE_MPIEXEC ${MPIEXEC_EXECUTABLE})
  sluice_mpi_flavour(SLUICE_MPI CXX)
endif()
message(STATUS "Sluice: MPI is ${SLUICE_MPI}, launcher ${SLUICE_MPIEXEC}")
