! SPDX-License-Identifier: BSD-3-Clause
! transcript.h for Fortran: text, numbers, and the checksum of an array.
module transcript
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine c_open(prefix) bind(c, name='open_transcript')
      import :: c_char
      character(kind=c_char), intent(in) :: prefix(*)
    end subroutine
    subroutine c_say(text) bind(c, name='say_text')
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    function c_checksum(buffer, bytes) bind(c, name='checksum')
      import :: c_ptr, c_size_t, c_int64_t
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_int64_t) :: c_checksum
    end function
  end interface
contains
  subroutine open_transcript()
    call c_open(c_null_char)
  end subroutine

  subroutine say(text)
    character(*), intent(in) :: text
    call c_say(trim(text)//c_null_char)
  end subroutine

  subroutine say_integers(what, values)
    character(*), intent(in) :: what
    integer, intent(in) :: values(:)
    character(len=1000) :: line
    write (line, '(a,*(1x,i0))') trim(what)//':', values
    call say(line)
  end subroutine

  subroutine say_flag(what, value)
    character(*), intent(in) :: what
    logical, intent(in) :: value
    if (value) then
      call say(trim(what)//': true')
    else
      call say(trim(what)//': false')
    end if
  end subroutine

  subroutine say_sum(what, values)
    character(*), intent(in) :: what
    integer, intent(in), target, contiguous :: values(:)
    character(len=100) :: line
    write (line, '(a,a,i0,a,z16.16)') trim(what), ': ', size(values), ' integers ', &
      c_checksum(c_loc(values), 4_c_size_t*size(values, kind=c_size_t))
    call say(line)
  end subroutine
end module
