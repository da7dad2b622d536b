-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Asks mpgaudit before sbatch and srun send a job off, and warns, or rejects what
-- would not get large pages. When something goes wrong in here, the job is
-- submitted all the same, and a line says so. Lua 5.1; docs/howto-submit.md.
local policy = "warn" -- off, warn or enforce; MPG_AUDIT of the user wins
local mpgaudit = "mpgaudit" -- its path, if it is not in the users' PATH
local extra = "" -- options of mpgaudit: "--target=fugaku"
local seconds, shown = 5, 20 -- time for an answer, lines of it
local system = { "^/bin/", "^/sbin/", "^/usr/s?bin/" } -- nobody relinks these
local variables = { "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS",
  "XOS_MMM_L_HPAGE_TYPE", "XOS_MMM_L_PAGING_POLICY" } -- if the script is silent
local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
local function say(text) slurm.log_info("%s", text) end

-- What the user may have built or written under this name; nil: nothing.
local function content_of(name, folder)
  local path = name:find("/") and "" or os.getenv("PATH") or ""
  for entry in (path == "" and folder or path):gmatch("[^:]+") do
    local found = name:find("^/") and name or entry .. "/" .. name
    local file = io.open(found, "rb")
    local content = file and file:read(65536)
    for _, pattern in ipairs(content and system or {}) do
      if found:find(pattern) then return nil end
    end
    if content then return content end
  end
end

-- Shell text with the job, and the file with it if there is one; nil: not ours.
local function job_of(options, argv, folder)
  if options.type == "sbatch" and options.wrap then return options.wrap end
  if options.type == "sbatch" and not argv[1] then return "", "/dev/stdin" end
  local content = argv[1] and content_of(argv[1], folder)
  if options.type == "sbatch" then -- in a shell's language, but not csh's
    return (content or ""):find("^#![^\n]*[^c]sh%f[%W]") and content, argv[1]
  end
  local words, ours = { "srun" }, content and content:find("^\127ELF")
  for index, word in ipairs(argv) do -- srun numactl -m 0 ./app
    content = not ours and word:find("/") and content_of(word, folder)
    ours = ours or content and content:find("^\127ELF")
    words[index + 1] = quote(word)
  end
  return ours and table.concat(words, " ")
end

local function audit(options)
  local folder, mode = options.chdir or ".", os.getenv("MPG_AUDIT") or policy
  local text, file = job_of(options, options.argv or {}, folder)
  if mode == "off" or not text then return slurm.SUCCESS end
  local words = { "timeout -k 1", seconds, quote(mpgaudit), "--format=line", extra }
  for _, name in ipairs(options.export == "NONE" and {} or variables) do
    local value = not text:find(name, 1, true) and os.getenv(name)
    words[#words + 1] = value and quote("--env=" .. name .. "=" .. value) or nil
  end
  local pipe = assert(io.popen("cd " .. quote(folder) .. " || exit; { "
    .. (file and "" or "printf '%s\\n' " .. quote(text) .. " | ")
    .. (file == "/dev/stdin" and "test ! -f /dev/stdin || " or "") -- opened anew
    .. table.concat(words, " ") .. " " .. quote("--job=" .. (file or "/dev/stdin"))
    .. "; } 2>&1; echo mpg-status=$?"))
  local lines, status = 0, "none"
  for line in pipe:lines() do
    status = line:match("^mpg%-status=(%d+)$") or status
    lines = lines + (line:find(": [ew]%l+: ") and 1 or 0)
    if line:find(": [ew]%l+: ") and lines <= shown then say(line) end
  end
  if pipe:close() and status == "0" and lines == 0 then return slurm.SUCCESS end
  local stop = status == "1" and mode == "enforce"
  say(stop and "not submitted; with MPG_AUDIT=warn it would be" or "submitted"
    .. (status == "3" and "; mpgaudit does not understand all that it starts"
    or status > "1" and " without mpgaudit's answer: status " .. status or ""))
  return stop and slurm.ERROR or slurm.SUCCESS
end
function slurm_cli_setup_defaults() return slurm.SUCCESS end
slurm_cli_post_submit = slurm_cli_setup_defaults
function slurm_cli_pre_submit(options)
  local done, result = pcall(audit, options)
  if not done then say("submitted without mpgaudit: " .. result) end
  return done and result or slurm.SUCCESS
end
