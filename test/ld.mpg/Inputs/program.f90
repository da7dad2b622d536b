! A Fortran program whose data would be damaged by a wrong layout. COMMON blocks,
! named and blank, reach the linker as symbols without a section; BLOCK DATA
! gives one of them contents. SAVE arrays with and without initial values,
! allocatables, and input and output through the Fortran runtime go with them,
! and the heap of brk must grow behind .bss. Linked with library.f90 it shares
! COMMON /fields/ with a shared library.

block data start
  double precision :: table(300000)
  integer :: marks(100)
  common /filled/ table, marks
  data table /300000*3.0d0/, marks /50*1, 50*2/
end block data

subroutine fill(step)
  integer, intent(in) :: step
  double precision :: field(700000)
  common /fields/ field
  integer, save :: calls(400000) = 0
  integer, save :: weights(200000) = 7
  field = field + step
  calls(1) = calls(1) + 1
  calls(400000) = calls(400000) + weights(200000)
  weights(200000) = weights(200000) + 1
  if (calls(1) /= step .or. weights(1) /= 7) stop 2
  if (calls(400000) /= merge(7, 15, step == 1)) stop 3
end subroutine fill

! Blank COMMON may be longer in one unit than in another.
subroutine fillBlank
  integer :: first(250000)
  common first
  integer :: i
  first = [(i, i = 1, 250000)]
end subroutine fillBlank

! Allocatables, and values written out and read again.
subroutine readBack
  double precision, allocatable :: copy(:), grown(:)
  double precision :: table(300000)
  integer :: marks(100)
  common /filled/ table, marks
  character(len=60) :: line
  double precision :: value
  integer :: mark
  copy = table
  copy(300000) = 4.5d0
  allocate (grown(2 * size(copy)), source=1.0d0)
  grown(1:300000) = copy
  call move_alloc(grown, copy)
  if (size(copy) /= 600000 .or. allocated(grown)) stop 4
  if (copy(1) /= 3 .or. copy(300000) /= 4.5d0 .or. copy(600000) /= 1) stop 5
  write (line, '(f8.3, 1x, i6)') copy(300000), marks(100)
  if (line /= '   4.500      2') stop 6
  read (line, *) value, mark
  if (value /= 4.5d0 .or. mark /= 2) stop 7
  open (unit=10, status='scratch', form='unformatted')
  write (10) table(1:1000)
  rewind (10)
  copy = 0
  read (10) copy(1:1000)
  close (10)
  if (any(copy(1:1000) /= 3) .or. any(copy(1001:) /= 0)) stop 8
end subroutine readBack

program main
  use, intrinsic :: iso_c_binding
  double precision :: table(300000), field(700000)
  integer :: marks(100), first(250000), rest(350000)
  common /filled/ table, marks
  common /fields/ field
  common first, rest
  if (any(field /= 0) .or. any(first /= 0) .or. any(rest /= 0)) stop 9
  call fill(1)
  call fill(2)
  call fillBlank
  if (any(field /= 3) .or. any(table /= 3)) stop 10
  if (sum(marks) /= 150 .or. first(250000) /= 250000) stop 11
  if (any(rest /= 0)) stop 12
  call readBack
  if (.not. heapGrows()) stop 13
#ifdef WITH_LIBRARY
  call libraryFill(5)
  if (any(field /= 8)) stop 14
#endif
  print '(a, f5.1, i4, i7)', 'values are right:', table(300000), marks(100), &
    first(250000)

contains

  logical function heapGrows()
    interface
      function sbrk(bytes) bind(c)
        import
        integer(c_intptr_t), value :: bytes
        type(c_ptr) :: sbrk
      end function sbrk
    end interface
    integer(c_intptr_t), parameter :: bytes = 5 * 2_c_intptr_t**20
    integer(c_intptr_t) :: begin
    integer(c_int8_t), pointer :: area(:)
    type(c_ptr) :: place
    heapGrows = .false.
    place = sbrk(bytes)
    begin = transfer(place, begin)
    if (begin == -1) return
    call c_f_pointer(place, area, [bytes])
    area = 1
    heapGrows = transfer(sbrk(0_c_intptr_t), begin) == begin + bytes
  end function heapGrows
end program main
