! SPDX-License-Identifier: BSD-3-Clause
! What a Fortran program observes of calls with handles of every kind: a line for each, on every rank.
program calls
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, code, i
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call tell('MPI_Comm_rank', code, rank)
  call messages()
  call collectives()
  do i = 1, 4
    call communicators()
  end do
  call MPI_Finalize(code)

contains

  subroutine tell(what, code, value)
    character(*), intent(in) :: what
    integer, intent(in) :: code, value
    write (*, '(i0, a, i0, a, a, a, i0, a, i0)') rank, '/', ranks, ' ', what, ': ', code, ', ', value
  end subroutine

  subroutine messages()
    integer :: sent, got, status(MPI_STATUS_SIZE), requests(2), code
    sent = 100 + rank
    got = -1
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, modulo(rank + 1, ranks), 7, got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 7, &
                      MPI_COMM_WORLD, status, code)
    call tell('MPI_Sendrecv', code, got + 1000 * status(MPI_TAG))
    call MPI_Irecv(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 8, MPI_COMM_WORLD, requests(1), code)
    call MPI_Isend(sent, 1, MPI_INTEGER, modulo(rank + 1, ranks), 8, MPI_COMM_WORLD, requests(2), code)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
    call tell('MPI_Waitall', code, got)
  end subroutine

  subroutine collectives()
    integer :: counts(ranks), places(ranks), types(ranks), out(ranks), in(ranks), most, code
    counts = 1
    places = [(4 * (i - 1), i = 1, ranks)]
    types = MPI_INTEGER
    out = [(10 * rank + i, i = 1, ranks)]
    call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, code)
    call tell('MPI_Alltoallw', code, in(ranks))
    call MPI_Allreduce(rank, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
    call tell('MPI_Allreduce', code, most)
    call MPI_Gather(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    call tell('MPI_Gather', code, merge(in(ranks), 0, rank == 0))
  end subroutine

  subroutine communicators()
    integer :: half, type, bytes, code
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half, code)
    call tell('MPI_Comm_split', code, 0)
    call MPI_Comm_free(half, code)
    call tell('MPI_Comm_free', code, merge(1, 0, half == MPI_COMM_NULL))
    call MPI_Type_vector(2, 1, 3, MPI_DOUBLE_PRECISION, type, code)
    call MPI_Type_commit(type, code)
    call MPI_Type_size(type, bytes, code)
    call tell('MPI_Type_size', code, bytes)
    call MPI_Type_free(type, code)
    call tell('MPI_Type_free', code, merge(1, 0, type == MPI_DATATYPE_NULL))
  end subroutine
end program
