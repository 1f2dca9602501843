! SPDX-License-Identifier: BSD-3-Clause
! Calls MPI through its Fortran bindings, which are a library of their own: the places are this program's all the same.
program names_fortran
  use mpi
  implicit none
  integer :: status
  call start()
  call meet()
  call MPI_Finalize(status)
contains
  subroutine start()
    integer :: error
    call MPI_Init(error)
  end subroutine
  subroutine meet()
    integer :: error
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine
end program
