-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- spank.lua FILE WORD|- [ARGUMENT] [NAME=VALUE]...: does for a node's step what
-- slurm-spank-lua does (spank-lua(8)): loads FILE, gives the option's callback WORD, first
-- where srun runs and then on the node, calls slurm_spank_user_init, and prints
-- the step's environment in order, messages of the log, and the status.
SPANK = { SUCCESS = 0, FAILURE = -1 }
function SPANK.log_error(text, ...) print(text:format(...)) end
dofile(arg[1])

local environment = {}
for index = 4, #arg do
  local name, value = arg[index]:match("^(%w+)=(.*)$")
  environment[name or arg[index]:match("^([^=]+)")] = value or arg[index]:match("=(.*)$")
end
local spank = { context = "remote", args = { arg[3] } }
function spank:getenv(name) return environment[name] end
function spank:setenv(name, value, overwrite) -- the real one takes a number
  if environment[name] and overwrite ~= 1 then return nil, "exists" end
  environment[name] = value
  return true
end

local status = SPANK.SUCCESS
if arg[2] ~= "-" then
  local option = spank_options[1]
  assert(option.name == "mpg" and option.has_arg and option.usage)
  status = _G[option.cb](option.val, arg[2], false)
  if status ~= SPANK.FAILURE then _G[option.cb](option.val, arg[2], true) end
end
if status ~= SPANK.FAILURE then status = slurm_spank_user_init(spank) end
local names = {}
for name in pairs(environment) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do print(name .. "=" .. environment[name]) end
print(status)
