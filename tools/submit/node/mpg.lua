-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- The option --mpg=MODE of srun, sbatch and salloc, by slurm-spank-lua: programs of
-- the step run with libmpg as if each were started by `mpgrun --children --mode=MODE`.
-- In plugstack.conf: required lua.so /etc/slurm/lua.d/mpg.lua [mpgrun=PATH]
-- Whatever goes wrong, the step runs without libmpg, and a line says so.
local modes = { auto = true, hugetlb = true, thp = true, none = true }
local mode -- that the user asked for

function mpg_option(_, word, isRemote)
  if modes[word] then mode = word return SPANK.SUCCESS end
  if isRemote then return SPANK.SUCCESS end
  SPANK.log_error("--mpg=%s is unknown; there are auto, hugetlb, thp and none", tostring(word))
  return SPANK.FAILURE
end

spank_options = { {
  name = "mpg", arginfo = "auto|hugetlb|thp|none", val = 1, has_arg = 1, cb = "mpg_option",
  usage = "run the programs of the step on large pages (mpgtools)",
} }

-- The variables that mpgrun sets, from mpgrun itself.
local function settings(command)
  local found, pipe = {}, io.popen(command .. " --children --mode=" .. mode .. " --dry-run sh 2>&1")
  for line in pipe and pipe:lines() or function() end do
    local name, value = line:match("^([A-Z_]+)=(.*)$")
    if name then found[#found + 1] = { name, value } end
  end
  if pipe then pipe:close() end
  return found
end

-- Once for each node and step, with the rights of the user.
function slurm_spank_user_init(spank)
  if not mode or mode == "none" then return SPANK.SUCCESS end
  local command = "mpgrun"
  for _, word in ipairs(spank.args or {}) do command = word:match("^mpgrun=(.+)") or command end
  local found = settings("'" .. command:gsub("'", "'\\''") .. "'")
  if not found[1] then
    SPANK.log_error("--mpg: %s does not answer; the step runs without libmpg", command)
  end
  for _, setting in ipairs(found) do
    local name, value = setting[1], setting[2]
    local before = name == "LD_PRELOAD" and spank:getenv(name)
    if before and before ~= "" then value = value .. ":" .. before end
    spank:setenv(name, value, 1)
  end
  return SPANK.SUCCESS
end
