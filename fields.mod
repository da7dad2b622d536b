!mod$ v1 sum:62078d0c468f2f9b
module fields
integer(4),parameter::tablesize=524288_4
integer(4),parameter::streamsize=4194304_4
type::field
real(8),pointer::values(:)=>NULL()
end type
intrinsic::null
type::state
type(field)::table
type(field)::strm
end type
contains
subroutine make(one,n)
type(field),intent(inout)::one
integer(4),intent(in)::n
end
end
