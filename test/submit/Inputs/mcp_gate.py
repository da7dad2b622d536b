"""Asks mpgtools-mcp by the client of the official SDK: 50 wrong jobs are stopped, 50 right ones let
through; what is outside of the allowed folder is refused.

usage: mcp_gate.py BIN SOURCE [table|refuse|compare]; the current folder has the programs of
job-scripts-found.test.

Right jobs: the scripts with "ok" or "says" of guides.txt, sites.txt and forms.txt, and the clean ones
for Fugaku of job-scripts. Wrong ones: those of these files with an error, and of each right one for
Fugaku, where it does not switch large pages off, its twin, which starts a program that cannot be
on large pages there (MPG102).
"""

import os
import re
import sys
from pathlib import Path

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

BIN, SOURCE, WHAT = sys.argv[1:4]
HERE = os.getcwd()


def scripts(name):
    text = Path(SOURCE, "test/job-scripts/found", name).read_text("utf-8")
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    for verdict, script in zip(parts[1::2], parts[2::2]):
        script = script.replace("@HERE@", HERE)
        yield verdict.split()[0], script if script.startswith("#!") else "#!/bin/bash\n" + script


def table():
    """Whether a job is right, and its text."""
    for name in "guides.txt", "sites.txt", "forms.txt":
        for word, script in scripts(name):
            if word in ("ok", "says", "error"):
                yield word != "error", script
            twin = re.sub(r"\./(a\.out|bench_embedding|fjapp)\b", "./pieapp", script)
            if word != "error" and "#PJM" in script and twin != script:
                yield False, twin
    folder = Path(SOURCE, "test/job-scripts")
    for name in re.findall(r"^(fugaku.*): clean", (folder / "expected.txt").read_text(), re.M):
        script = (folder / name).read_text()
        for program in () if "HPAGE_TYPE=none" in script else ("fjapp", "pieapp"):
            yield program == "fjapp", re.sub(
                r"(mpiexec.*?) \./(?!out/)[\w.]+", rf"\1 ./{program}", script)


async def ask_table(session):
    counts = {}
    for right, script in table():
        answer = await session.call_tool("job", {"text": script, "folder": HERE})
        assert not answer.is_error, answer.content
        gate = answer.structured_content["gate"]
        assert answer.structured_content["report"]["schema"] == "mpgaudit-1"
        key = "right" if right else "wrong", gate
        counts[key] = counts.get(key, 0) + 1
        if right == (gate == "stop"):
            print("differs:", script)
    for key in sorted(counts):
        print(*key, counts[key])


async def ask_refused(session):
    tools = (await session.list_tools()).tools
    print(*sorted(tool.name for tool in tools))
    print("read-only:", all(tool.annotations.read_only_hint for tool in tools))
    os.makedirs("inside-not", exist_ok=True)
    Path("inside-not/job.sh").write_text("./app\n")
    os.symlink("../inside-not/job.sh", "inside/link.sh")
    os.symlink("..", "inside/up")
    os.mkfifo("inside/pipe")
    for path in ("inside-not/job.sh", "inside/../inside-not/job.sh", "inside/link.sh",
                 "inside/up/inside-not/job.sh", "inside/pipe", "inside", "inside/none",
                 "inside/a\0b"):
        answer = await session.call_tool("job", {"path": os.path.join(HERE, path)})
        print(repr(path), answer.is_error, answer.content[0].text.replace(HERE, "")[:200])
    for name, arguments in (
            ("job", {"path": "--help"}), ("job", {}), ("job", {"text": "./app\n"}),
            ("job", {"text": "./app\n", "folder": "/"}), ("audit", {"path": "/etc/passwd"}),
            ("compare", {"command": ["/bin/true"], "folder": HERE}), ("info", {"need": "much"})):
        answer = await session.call_tool(name, arguments)
        print(name, answer.is_error, answer.content[0].text.replace(HERE, "")[:200])
    # The session goes on, and a setting of the folder cannot switch findings off.
    Path("inside/.mpgaudit.yaml").write_text("suppress:\n  - id: MPG102\n    reason: mine\n")
    Path("inside/job.sh").write_text('#!/bin/bash\n#PJM -L "node=1"\n../pieapp\n')
    answer = await session.call_tool("job", {"path": os.path.join(HERE, "inside/job.sh")})
    print("gate:", answer.structured_content["gate"])
    for name, arguments in (("explain", {"code": "MPG102"}), ("info", {}),
                            ("recommend", {"path": os.path.join(HERE, "inside/job.sh")}),
                            ("forecast", {"path": os.path.join(HERE, "inside/job.sh")})):
        answer = await session.call_tool(name, arguments)
        report = answer.structured_content
        print(name, report["report"]["schema"] if "report" in report
              else report["text"].splitlines()[0])


async def ask_compare(session):
    answer = await session.call_tool("compare", {
        "command": [os.path.join(HERE, "app")], "folder": HERE, "modes": "none,thp", "repeat": 1})
    print(answer.is_error, answer.structured_content["report"]["schema"])
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    print("compare read-only:", tools["compare"].annotations.read_only_hint)
    answer = await session.call_tool("compare", {"command": ["/bin/true"], "folder": HERE})
    print(answer.is_error, answer.content[0].text)


async def main():
    options, work = {"table": (["--allow", HERE], ask_table),
                     "refuse": (["--allow", HERE + "/inside"], ask_refused),
                     "compare": (["--allow", HERE, "--compare"], ask_compare)}[WHAT]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "mpgtools._mcp", "--bin", BIN, *options],
        env={"PYTHONPATH": os.environ["PYTHONPATH"]})
    with open("server.log", "w", encoding="utf-8") as log:
        async with stdio_client(server, errlog=log) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                await work(session)


anyio.run(main)
