! Fortran has no attributes: a side file by names must reach the allocations of its
! arrays, which lie behind descriptors, and those of no others.
! REQUIRES: flang-22, llvm-22
! RUN: split-file %s %t && cd %t
! DEFINE: %{hints} = hints
! DEFINE: %{ir} = env MPG_PASS_OPTIONS=hints=%{hints}.yaml flang-22 -O1 -fopenmp -g -fpass-plugin=%passes -S -emit-llvm arrays.f90 -o out.ll
! RUN: %{ir} 2> messages && count 0 < messages
! RUN: FileCheck arrays.f90 --input-file=out.ll
! The whole procedure: no name of a variable, so no debug information, is needed.
! REDEFINE: %{hints} = whole
! RUN: %{ir} 2> messages && count 0 < messages
! RUN: FileCheck arrays.f90 --check-prefix=WHOLE --input-file=out.ll
! Not one word: nothing is marked.
! REDEFINE: %{hints} = none
! RUN: %{ir} 2> messages && count 0 < messages && not grep mpg-first-touch out.ll
!--- none.yaml
#
!--- whole.yaml
arrays: touch:off
!--- hints.yaml
arrays/a: touch:off
arrays/b: "touch:on"
arrays/c: touch:off
arrays/dummy: touch:off
shared: touch:off
table: touch:on
!--- arrays.f90
module m
  ! CHECK-DAG: @_QMmEshared = {{.*}} [[OFF:#[0-9]+]]
  real(8), allocatable :: shared(:)
  ! CHECK-DAG: @_QMmEtable = {{.*}} [[ON:#[0-9]+]]
  real(8), save :: table(1000000)
end module
! CHECK: define void @arrays_({{.*}}"mpg-first-touch"="off"
subroutine arrays(dummy, n)
  use m
  integer, intent(in) :: n
  real(8) :: dummy(n)
  real(8), allocatable :: a(:), b(:), other(:)
  real(8), pointer :: c(:)
  integer :: i
  ! CHECK: call ptr @malloc({{.*}}) [[OFF]]
  ! WHOLE: call ptr @malloc({{.*}}) [[OFF:#[0-9]+]]
  allocate(a(n))
  ! CHECK: call ptr @malloc({{.*}}) [[ON]]
  ! WHOLE: call ptr @malloc({{.*}}) [[OFF]]
  allocate(b(n + 1))
  ! CHECK: call ptr @malloc(i64 {{[^)]*}}), !dbg
  ! WHOLE: call ptr @malloc({{.*}}) [[OFF]]
  allocate(other(n + 2))
  ! CHECK: call i32 @_FortranAPointerAllocate({{.*}}) [[OFF]]
  ! WHOLE: call i32 @_FortranAPointerAllocate({{.*}}) [[OFF]]
  allocate(c(n))
  ! CHECK: call ptr @malloc({{.*}}) [[OFF]]
  ! WHOLE: call ptr @malloc({{.*}}) [[OFF]]
  allocate(shared(n))
  a = 0
  !$omp parallel do
  do i = 1, n
    a(i) = a(i) + b(i) + c(i) + other(i) + shared(i) + table(i) + dummy(i)
  end do
  call use_them(a, b, other)
end subroutine
! CHECK-DAG: attributes [[OFF]] = { "mpg-first-touch"="off" }
! CHECK-DAG: attributes [[ON]] = { "mpg-first-touch"="on" }
! WHOLE-DAG: attributes [[OFF]] = { "mpg-first-touch"="off" }
