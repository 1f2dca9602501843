! SPDX-License-Identifier: BSD-3-Clause
! As wire.c, in Fortran, with an allocatable array; every other message is received by MPI_Irecv and MPI_Wait.
program wire
    use mpi
    implicit none
    integer, parameter :: values = 1048576, rounds = 8
    integer :: ierr, me, round, i, request, status(MPI_STATUS_SIZE)
    integer(kind=8) :: steps, step
    real(kind=8), allocatable :: field(:)
    real(kind=8) :: x, start, each, waited, touched
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    allocate (field(values))
    field = -1
    x = 1
    start = MPI_Wtime()
    do i = 1, 2000000
        x = x * 1.0000001d0 + 0.0000001d0
    end do
    each = (MPI_Wtime() - start) / 2000000
    steps = int(values * 64 / 1d9 / each, 8)
    waited = 0
    touched = 0
    do round = 1, rounds
        if (me == 1) then
            field = [(real(i + round, 8), i=1, values)]
            call MPI_Send(field, values, MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_WORLD, ierr)
        else if (me == 0) then
            start = MPI_Wtime()
            if (mod(round, 2) == 0) then
                call MPI_Irecv(field, values, MPI_DOUBLE_PRECISION, 1, round, MPI_COMM_WORLD, request, ierr)
                call MPI_Wait(request, status, ierr)
                if (status(MPI_TAG) /= round) touched = touched + 1
            else
                call MPI_Recv(field, values, MPI_DOUBLE_PRECISION, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            end if
            waited = waited + MPI_Wtime() - start
            do step = 1, steps
                x = x * 1.0000001d0 + 0.0000001d0
            end do
            start = MPI_Wtime()
            touched = touched + field(1)
            waited = waited + MPI_Wtime() - start
            touched = touched + sum(abs(field - [(real(i + round, 8), i=1, values)]))
        end if
    end do
    if (me == 0) print '(a, i0, a, l1, a, f0.6, a)', 'sum ', int(touched), ', computed ', x > 0, ', waited ', waited, ' s'
    call MPI_Finalize(ierr)
end program wire
