! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 calls abort; the others wait for a message that never comes. GNU Fortran has set a handler of SIGABRT.
program ends
  use mpi
  implicit none
  integer :: rank, never, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  print '(a,i0,a)', 'rank ', rank, ' is there'
  flush (6)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (rank == 1) call abort
  call MPI_Recv(never, 1, MPI_INTEGER, MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call MPI_Finalize(code)
end program
