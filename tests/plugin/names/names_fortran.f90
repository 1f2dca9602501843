! SPDX-License-Identifier: BSD-3-Clause
! Calls MPI through its Fortran bindings, which are a library of their own: the places are this program's all the same.
program names_fortran
  use mpi
  implicit none
  integer :: error
  call MPI_Init(error)
  call meet()
  call MPI_Finalize(error)
contains
  subroutine meet()
    integer :: status
    call MPI_Barrier(MPI_COMM_WORLD, status)
  end subroutine
end program
