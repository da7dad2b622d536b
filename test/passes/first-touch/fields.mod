!mod$ v1 sum:f83132dd19b6a3e4
module fields
real(8)::field(1_8:2000000_8)
end
