! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Character variables, arrays of them, internal files, deferred length, sorting.
program character_strings
  implicit none
  character(12) :: words(60), word
  character(:), allocatable :: text
  character(40) :: line
  integer :: i, j, total, numbers(8), counts(0:127)
  do i = 1, 60
    write (words(i), '(a, i0, a)') achar(97 + mod(i * 7, 26)), mod(i * i, 91), 'z'
  end do
  do i = 2, 60                   ! insertion sort
    word = words(i)
    j = i - 1
    do while (j >= 1)
      if (words(j) <= word) exit
      words(j + 1) = words(j)
      j = j - 1
    end do
    words(j + 1) = word
  end do
  text = ''
  do i = 1, 60
    text = text // trim(words(i)) // ','
  end do
  counts = 0
  do i = 1, len(text)
    j = iachar(text(i:i))
    counts(j) = counts(j) + 1
    if (j >= 97 .and. j <= 122) text(i:i) = achar(j - 32)
  end do
  line = '1 22 333 -4 5 66 7 8'
  read (line, *) numbers
  total = 0
  do i = 1, len(text) - 3
    if (text(i:i + 1) == 'Z,') total = total + ichar(text(i + 2:i + 2))
  end do
  print *, len(text), counts(44), total, sum(numbers), index(text, 'M')
  print *, text(1:60), scan(text, '89'), verify('aab', 'a')
  if (counts(44) /= 60 .or. any(words(2:) < words(:59))) stop 1
end program character_strings
