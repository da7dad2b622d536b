-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- Asks mpgaudit before sbatch, srun and salloc send a job off, and warns, or rejects what
-- would not get large pages. When something goes wrong in here, the job is
-- submitted all the same, and a line says so. Lua 5.1; docs/howto-submit.md.
local policy = "warn" -- off, warn or enforce; MPG_AUDIT of the user wins
local mpgaudit = "mpgaudit" -- its path, if it is not in the users' PATH
local extra = "" -- options of mpgaudit: "--target=fugaku"
local file_of_site = "/etc/mpgtools/submit.conf" -- wins over all this
local seconds, shown = 5, 20 -- time for an answer, lines of it
local system = { "^/bin/", "^/sbin/", "^/usr/s?bin/" } -- users do not relink these
local variables = { "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS",
  "XOS_MMM_L_HPAGE_TYPE", "XOS_MMM_L_PAGING_POLICY" } -- if the script is silent
local strength = { off = 1, warn = 2, enforce = 3 }
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
    if content then return content, found end
  end
end

local function is_script(text) return text and text:find("^#![^\n]*sh%f[%W]") end

-- Slurm does not give salloc's command to filters: from the first word on that is
-- a file which the user may have built or written.
local function command_of_salloc(folder)
  local file, words = io.open("/proc/self/cmdline", "rb"), {}
  for word in (file and file:read("*a") or ""):gmatch("%Z+") do
    if words[1] or word:find("/") and not word:find("^-")
      and content_of(word, folder) then words[#words + 1] = word end
  end
  return words
end

-- Shell text with the job, and the file with it if there is one; nil: not ours.
local function job_of(options, argv, folder)
  local batch = options.type == "sbatch"
  if options.type == "salloc" then argv = command_of_salloc(folder) end
  if batch and options.wrap then return options.wrap end
  if batch and not argv[1] then return "", "/dev/stdin" end
  local name, content, found = argv[1]
  if batch and not name:find("/") then name = "./" .. name end
  if name then content, found = content_of(name, batch and "." or folder) end
  if is_script(content) then
    return content, (found:gsub("^%./", ""):gsub("^%./", ""))
  end
  if batch then return nil end
  local words, ours = { "srun" }, content and content:find("^\127ELF")
  for index, word in ipairs(argv) do -- srun numactl -m 0 ./app
    content = not ours and word:find("/") and content_of(word, folder)
    ours = ours or content and content:find("^\127ELF")
    words[index + 1] = quote(word)
  end
  return ours and table.concat(words, " ")
end

-- "policy = enforce", "codes = MPG110 MPG140", "options = ..", "mpgaudit = .."
local function read_site()
  local site, file, why, number = {}, io.open(file_of_site)
  if number and number ~= 2 then say(why .. ": what it asks for has no effect") end
  for line in file and file:lines() or function() end do
    local key, value = line:match("^%s*([%l-]+)%s*=%s*(.-)%s*$")
    if key then site[key] = value end
  end
  return site
end

-- The user's word, but never less than the site's.
local function mode_of(site)
  local mode, least = os.getenv("MPG_AUDIT") or policy, site.policy or "off"
  if not strength[least] then
    say(file_of_site .. ": policy is '" .. least .. "': taken as enforce")
    least = "enforce"
  end
  if not strength[mode] then
    mode = strength[policy] > strength[least] and policy or least
    say("MPG_AUDIT is not off, warn or enforce: taken as " .. mode)
  end
  return strength[mode] > strength[least] and mode or least
end

local function audit(options)
  local folder, site = options.chdir or ".", read_site()
  local mode, forced = mode_of(site), site.policy == "enforce"
  local text, file = job_of(options, options.argv or {}, folder)
  if mode == "off" or not text then return slurm.SUCCESS end
  local words = { "timeout -k 1", seconds, quote(site.mpgaudit or mpgaudit),
    "--format=line", extra, forced and "--no-config" or "", (site.options or "")
    .. (site["require-large-pages"] == "yes" and " --require-large-pages" or "") }
  local given = ("," .. (options.export or "") .. ","):gsub("^,,$", ",ALL,") -- "A,B=c"
  for _, name in ipairs(variables) do
    local value = not text:find(name, 1, true) and (given:match("," .. name .. "=([^,]*)")
      or (given:match(",ALL,") or given:match("," .. name .. ",")) and os.getenv(name))
    words[#words + 1] = value and quote("--env=" .. name .. "=" .. value) or nil
  end
  local job = (file or ""):find("^[^/]") and '"$OLDPWD"/' .. quote(file)
    or quote(file or "/dev/stdin") -- sbatch reads it where it is started
  local pipe = assert(io.popen("cd " .. quote(folder) .. " || exit; { "
    .. (file and "" or "printf '%s\\n' " .. quote(text) .. " | ")
    .. (file == "/dev/stdin" and "test ! -f /dev/stdin || " or "") -- opened anew
    .. table.concat(words, " ") .. " --job=" .. job
    .. "; } 2>&1; echo mpg-status=$?"))
  local lines, status, stop = 0, "none", false
  for line in pipe:lines() do
    status = line:match("^mpg%-status=(%d+)$") or status
    local code = line:match(": error: (MPG%d+)")
    stop = stop or code and (not site.codes or site.codes:find(code, 1, true))
    local found = line:find(": [ew]%l+: ")
    lines = lines + (found and 1 or 0)
    if found and lines <= shown or line:find(": verdict: ") then say(line) end
  end
  if pipe:close() and status == "0" and lines == 0 then return slurm.SUCCESS end
  stop = stop and mode == "enforce"
  say(stop and "not submitted" .. (forced and "" or "; with MPG_AUDIT=warn it would be")
    or status == "127" and "submitted without a look: there is no "
    .. (site.mpgaudit or mpgaudit) or status == "3" and
    "submitted; mpgaudit does not understand all that it starts"
    or "submitted" .. ((status == "0" or status == "1") and ""
    or " without mpgaudit's answer: status " .. status))
  return stop and slurm.ERROR or slurm.SUCCESS
end

function slurm_cli_setup_defaults() return slurm.SUCCESS end
slurm_cli_post_submit = slurm_cli_setup_defaults
function slurm_cli_pre_submit(options)
  local done, result = pcall(audit, options)
  if not done then say("submitted without mpgaudit: " .. result) end
  return done and result or slurm.SUCCESS
end
