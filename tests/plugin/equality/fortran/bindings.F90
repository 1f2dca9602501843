! SPDX-License-Identifier: BSD-3-Clause
! The essence of the C programs in Fortran, compiled three times: with mpif.h (-DWITH_MPIF), with `use mpi`, and with
! `use mpi_f08` (-DWITH_F08), whose handles and statuses are types of their own.
#ifdef WITH_MPIF
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif defined(WITH_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#else
#define USE_MPI use mpi
#define INCLUDE_MPI
#endif
#ifdef WITH_F08
#define HANDLE(kind) type(kind)
#define STATUS_T type(MPI_Status)
#define STATUSES_T(n) type(MPI_Status), dimension(n)
#define OF(status, field) status%field
#define OF_ONE(statuses, i, field) statuses(i)%field
#else
#define HANDLE(kind) integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#define STATUSES_T(n) integer, dimension(MPI_STATUS_SIZE, n)
#define OF(status, field) status(field)
#define OF_ONE(statuses, i, field) statuses(field, i)
#endif

module callbacks
  implicit none
  integer :: copies = 0, deletes = 0, handled = 0, queries = 0, frees = 0
contains
  subroutine on_copy(comm, key, extra, value, new_value, flag, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, value, new_value
    logical :: flag
    copies = copies + 1
    new_value = value + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine on_delete(comm, key, value, extra, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine on_error(comm, code)
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    integer :: code
    handled = handled + 1
  end subroutine
#ifdef WITH_F08
  subroutine compose(in_place, inout_place, count, type)
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    type(c_ptr), value :: in_place, inout_place
    integer :: count, i
    type(MPI_Datatype) :: type
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(in_place, in, [count])
    call c_f_pointer(inout_place, inout, [count])
#else
  subroutine compose(in, inout, count, type)
    implicit none
    integer :: count, type, i
    integer :: in(count), inout(count)
#endif
    do i = 1, count
      inout(i) = mod(3*in(i) + inout(i), 10007)
    end do
  end subroutine
  subroutine on_query(extra, status, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS_T :: status
    integer :: ierror
    queries = queries + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    OF(status, MPI_SOURCE) = 4
    OF(status, MPI_TAG) = 9
    ierror = MPI_SUCCESS
  end subroutine
  subroutine on_free(extra, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine on_cancel(extra, complete, ierror)
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

module parts
  use transcript
  use callbacks
  implicit none
  integer :: me, ranks
contains
  subroutine check(what, code)
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(*), intent(in) :: what
    integer, intent(in) :: code
    integer :: class, ierror
    class = 0
    if (code /= MPI_SUCCESS) call MPI_Error_class(code, class, ierror)
    call say_integers(what, [class])
  end subroutine

  subroutine messages()
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: n = 5000
    integer, asynchronous :: out(n), in(n)
    STATUS_T :: status
    STATUSES_T(2) :: statuses
    HANDLE(MPI_Request) :: requests(2)
    HANDLE(MPI_Message) :: message
    integer :: right, left, count, ierror, i, indices(2), done, seen
    logical :: flag
    right = mod(me + 1, ranks)
    left = mod(me + ranks - 1, ranks)
    out = [(me*10000 + i, i=1, n)]
    in = 0
    OF(status, MPI_SOURCE) = 7777
    OF(status, MPI_TAG) = 7777
    OF(status, MPI_ERROR) = 7777
    call MPI_Sendrecv(out, n, MPI_INTEGER, right, 1, in, n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierror)
    call check('sendrecv', ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('status', [OF(status, MPI_SOURCE), OF(status, MPI_TAG), count])
    ! Open MPI 4.1.4 copies a status of C from the stack, MPI_ERROR being whatever was there.
#ifndef WITH_OPENMPI
    call say_integers('MPI_ERROR', [OF(status, MPI_ERROR)])
#endif
    call say_sum('data', in)
    call MPI_Sendrecv_replace(out, n, MPI_INTEGER, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call check('replace', ierror)
    call say_sum('data', out)

    call MPI_Irecv(in, n, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 100, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call check('waitall', ierror)
    call say_integers('statuses', [OF_ONE(statuses, 1, MPI_SOURCE), OF_ONE(statuses, 1, MPI_TAG)])
    call say_flag('null', requests(1) == MPI_REQUEST_NULL)

    call MPI_Irecv(in, n, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 100, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), ierror)
    seen = 0
    do while (seen < 2)
      call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE, ierror)
      seen = seen + done
      do i = 1, done
        if (indices(i) < 1 .or. indices(i) > 2) call say('an index out of its range')
      end do
    end do
    call MPI_Waitany(2, requests, i, status, ierror)
    call say_flag('nothing left', i == MPI_UNDEFINED)
    call MPI_Irecv(in, n, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Send(out, 100, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(1, requests, i, MPI_STATUS_IGNORE, ierror)
    call say_integers('first', [i])
    call MPI_Isend(out, 7, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(1), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(left, 6, MPI_COMM_WORLD, flag, status, ierror)
    end do
    call MPI_Mprobe(left, 6, MPI_COMM_WORLD, message, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('mprobe', [OF(status, MPI_SOURCE), OF(status, MPI_TAG), count])
    call MPI_Mrecv(in, n, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierror)
    call check('mrecv', ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierror)
    end do
    call MPI_Send_init(out, 50, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Recv_init(in, 50, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(2), ierror)
    do i = 1, 3
      out(1) = i
      call MPI_Startall(2, requests, ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      call say_sum('persistent', in)
    end do
    call MPI_Start(requests(1), ierror)
    call MPI_Start(requests(2), ierror)
    call MPI_Wait(requests(2), status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('started', [OF(status, MPI_SOURCE), OF(status, MPI_TAG), count])
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Request_free(requests(1), ierror)
    call MPI_Request_free(requests(2), ierror)
    call say_flag('freed', requests(1) == MPI_REQUEST_NULL)

    call MPI_Irecv(in, n, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 90, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(requests(1), flag, status, ierror)
    end do
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('looked at', [OF(status, MPI_SOURCE), OF(status, MPI_TAG), count])
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    end do
    call say_flag('null', requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL)

    call MPI_Irecv(in, n, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 80, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), ierror)
    seen = 0
    do while (seen < 2)
      call MPI_Testany(2, requests, i, flag, status, ierror)
      if (.not. flag) cycle
      seen = seen + 1
      if (i < 1 .or. i > 2) call say('an index out of its range')
    end do
    call MPI_Testany(2, requests, i, flag, MPI_STATUS_IGNORE, ierror)
    call say_flag('nothing left', flag .and. i == MPI_UNDEFINED)

    call MPI_Irecv(in, n, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 70, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2), ierror)
    seen = 0
    do while (seen < 2)
      call MPI_Testsome(2, requests, done, indices, statuses, ierror)
      seen = seen + done
    end do
    call say_sum('data', in)

    call MPI_Irecv(in, n, MPI_INTEGER, left, 99, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Cancel(requests(1), ierror)
    call MPI_Wait(requests(1), status, ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    call say_flag('cancelled', flag)
  end subroutine

  subroutine collectives(each)
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, intent(in) :: each
    integer :: i, ierror, wrong
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Op) :: op
    HANDLE(MPI_Datatype), allocatable :: types(:)
    integer, allocatable, asynchronous :: data(:), in(:)
    integer, allocatable :: counts(:), places(:)
    logical :: flag
    allocate (data(each*ranks), in(each*ranks), counts(ranks), places(ranks), types(ranks))
    counts = each
    places = [(i*each, i=0, ranks - 1)]
    types = MPI_INTEGER

    data = [(me*100003 + i, i=1, each*ranks)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, each, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check('alltoall', ierror)
    wrong = 0
    do i = 1, each*ranks
      if (data(i) /= (i - 1)/each*100003 + me*each + mod(i - 1, each) + 1) wrong = wrong + 1
    end do
    call say_integers('in place, wrong', [wrong])
    data = [(me*100003 + i, i=1, each*ranks)]
    call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, each, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check('ialltoall', ierror)
    call say_sum('in place', data)
    data = [(me*100003 + i, i=1, each*ranks)]
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, data, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                       ierror)
    call say_sum('alltoallv in place', data)
    call MPI_Ialltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, data, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                        request, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call say_sum('ialltoallv in place', data)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, data, counts, 4*places, types, MPI_COMM_WORLD, ierror)
    call say_sum('alltoallw in place', data)
    call MPI_Alltoall(data, each, MPI_INTEGER, in, each, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call say_sum('alltoall', in)

    call MPI_Allreduce(MPI_IN_PLACE, data, each, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call say_sum('allreduce in place', data)
    call MPI_Op_create(compose, .false., op, ierror)
    data = [(mod(me*31 + i, 997), i=1, each*ranks)]
    call MPI_Allreduce(data, in, each*ranks, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
    call say_sum('own operation', in)
    call MPI_Op_free(op, ierror)
    if (me == 0) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, each, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Gather(data, each, MPI_INTEGER, in, each, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
    call say_sum('gather', data)
    if (me == 0) then
      call MPI_Scatter(data, each, MPI_INTEGER, MPI_IN_PLACE, each, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Scatter(in, each, MPI_INTEGER, data, each, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
    call say_sum('scatter', data)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, each, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call say_sum('allgather', data)
    call MPI_Ibcast(data, each, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call say_sum('bcast', data)
#ifdef WITH_F08
    call MPI_Barrier(MPI_COMM_WORLD)
#else
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
#endif
  end subroutine

  subroutine communicators()
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Errhandler) :: handler
    integer :: key, ierror, source(1), target(1), class, length, got, value
    integer(kind=MPI_ADDRESS_KIND) :: extra, attribute
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    extra = 100
    call MPI_Comm_create_keyval(on_copy, on_delete, key, extra, ierror)
    attribute = 5
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, attribute, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call check('dup', ierror)
    attribute = 0
    call MPI_Comm_get_attr(comm, key, attribute, flag, ierror)
    call say_flag('attribute', flag)
    call say_integers('value', [int(attribute)])
    call MPI_Comm_set_name(comm, 'a name', ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    call say('"'//name(1:length)//'"')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call say_integers('callbacks', [copies, deletes])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, attribute, flag, ierror)
    call say_integers('highest tag', [int(attribute)])

    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, comm, ierror)
    call MPI_Comm_rank(comm, got, ierror)
    call say_integers('rank of the part', [got])
    call MPI_Comm_free(comm, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., comm, ierror)
    call MPI_Cart_shift(comm, 0, 1, source(1), target(1), ierror)
    call say_integers('shift', [source, target])
    call MPI_Comm_free(comm, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, source, MPI_UNWEIGHTED, 1, target, MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., comm, ierror)
    call check('graph', ierror)
    got = -1
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, ierror)
    call say_integers('neighbour', [got])
    call MPI_Comm_free(comm, ierror)

    call MPI_Comm_create_errhandler(on_error, handler, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierror)
    value = 0
    call MPI_Send(value, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
    call MPI_Error_class(ierror, class, got)
    call say_integers('class, handled', [class, handled])
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(value, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
    call check('count -1', ierror)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Comm_free_keyval(key, ierror)
  end subroutine

  subroutine others()
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, target, asynchronous :: first(4), window_memory(64)
    HANDLE(MPI_Datatype) :: type
    HANDLE(MPI_Win) :: window
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_File) :: file
    STATUS_T :: status
    integer :: ierror, right, left, count, value
    double precision, target, asynchronous :: second
    integer, save, target :: shared_memory(64)
    integer(kind=MPI_ADDRESS_KIND) :: offsets(2), bytes, place, state
    integer(kind=MPI_OFFSET_KIND) :: offset
    character(len=1000) :: folder
    right = mod(me + 1, ranks)
    left = mod(me + ranks - 1, ranks)
    first = me
    second = me*0.5d0
    call MPI_Get_address(first, offsets(1), ierror)
    call MPI_Get_address(second, offsets(2), ierror)
    call MPI_Type_create_struct(2, [4, 1], offsets, [MPI_INTEGER, MPI_DOUBLE_PRECISION], type, ierror)
    call MPI_Type_commit(type, ierror)
    call MPI_Bcast(MPI_BOTTOM, 1, type, ranks - 1, MPI_COMM_WORLD, ierror)
    call check('from bottom', ierror)
    call say_integers('first, second', [first, int(second*2)])
    call MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call say_integers('first, second', [first, int(second*2)])
    call MPI_Type_free(type, ierror)

    window_memory = -1
    shared_memory = -1
    bytes = 4*size(window_memory)
    call MPI_Win_create(shared_memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
    call check('window', ierror)
    place = 3
    value = me + 70
    call MPI_Win_fence(0, window, ierror)
    call MPI_Put(value, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, window, ierror)
    call MPI_Win_fence(0, window, ierror)
    call MPI_Get(window_memory, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, window, ierror)
    call MPI_Win_fence(0, window, ierror)
    call say_integers('put and got', [window_memory(1)])
    call MPI_Win_free(window, ierror)

    call get_environment_variable('SCRATCH', folder)
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/fortran', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, &
                       ierror)
    call check('open', ierror)
    offset = 16*me
    call MPI_File_write_at_all(file, offset, first, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    offset = 16*right
    call MPI_File_read_at(file, offset, first, 4, MPI_INTEGER, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('read', [count, first])
    call MPI_File_close(file, ierror)

    state = 3
    call MPI_Grequest_start(on_query, on_free, on_cancel, state, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    OF(status, MPI_SOURCE) = 7777
    OF(status, MPI_TAG) = 7777
    OF(status, MPI_ERROR) = 7777
    call MPI_Wait(request, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call say_integers('own request', [OF(status, MPI_SOURCE), OF(status, MPI_TAG), count, frees])
    call say_flag('asked', queries > 0)
    call say_flag('time goes on', MPI_Wtime() <= MPI_Wtime())
  end subroutine
end module

program bindings
  USE_MPI
  use parts
  implicit none
  INCLUDE_MPI
  integer :: ierror, provided
  character(len=20) :: how
  call open_transcript()
  call get_command_argument(1, how)
  if (how == 'multiple') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
    call say_integers('provided', [provided])
  else
    call MPI_Init(ierror)
  end if
  call check('init', ierror)
  call MPI_Query_thread(provided, ierror)
  call say_integers('level', [provided])
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call say_integers('rank of', [me, ranks])
  call messages()
  call collectives(1)
  call collectives(1000)
  call collectives(100000)
  call communicators()
  call others()
  call MPI_Finalize(ierror)
  call check('finalize', ierror)
end program
