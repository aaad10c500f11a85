#!/usr/bin/env python3
"""What the hooks do inside the real Claude Code. Started by run.sh: run.py PROGRAM OLD NEW, two folders of npm."""
import json
import os
import re
import subprocess
import sys

from client import Session

PROGRAM = sys.argv[1]
OLD, NEW = (os.path.join(folder, "node_modules/.bin/claude") for folder in sys.argv[2:4])
OURS = "An automatic note from the program that keeps your task list, not from the user."
THEIRS = "tools haven't been used recently"
UNFINISHED = "work on these items may have been left unfinished"
OFF = ("CLAUDE_CODE_TODO_REMINDER_MODE", "off")
TOOLS = ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
HAS_SERVER = " mcp " in subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True).stdout

# A name, the client, the model, the variables, and whether it offers its own list tools.
CLIENTS = [
    ("2.1.197", OLD, "claude-sonnet-4-5", [], True),
    ("newest", NEW, "claude-opus-4-8", [], False),
    ("newest with its tools", NEW, "claude-opus-4-8", [TOOLS], True),
]
failures = []


def check(what, found, wanted):
    ok = found == wanted
    print(f"  {'ok  ' if ok else 'FAIL'} {what}: {found}" + ("" if ok else f", and wanted {wanted}"), flush=True)
    if not ok:
        failures.append(what)


def bash(number):
    return {"calls": [{"name": "Bash", "input": {"command": f"echo {number}", "description": "counts"}}]}


def create(own, subject):
    """A call that puts one open item on the list: of the client's own tool, or of our server's."""
    if own:
        return {"name": "TaskCreate", "input": {"subject": subject, "description": "what there is to do"}}
    return {"name": "mcp__session-todo__TaskCreate", "input": {"subject": subject, "description": "what there is to do"}}


def text_of(body):
    return json.dumps(body["messages"]) + json.dumps(body.get("system"))


def appear(bodies, words):
    """The 1-based numbers of the requests in which these words are one time more than in the one before."""
    counts = [0] + [text_of(body).count(words) for body in bodies]
    return [at for at in range(1, len(counts)) if counts[at] > counts[at - 1]]


def ways(offers):
    """Whose tools keep the list: the client's, our server's."""
    return ([True] if offers else []) + ([False] if HAS_SERVER else [])


def reminders(client, model, variables, own):
    steps = [bash(0), {"calls": [create(own, "First thing")]}] + [bash(n) for n in range(2, 25)] + [{"text": "Done."}]
    with Session(client, PROGRAM, model, steps, [*variables, OFF]) as session:
        bodies = session.prompt("do it")
        check("a reminder on the requests that the core says (10 / 10, a write in response 2)", appear(bodies, OURS), [13, 23])
        check("the client itself is silent", appear(bodies, THEIRS), [])
        check("no errors", session.errors(), "")
    return bodies


def client_reminds(client, model, variables, own, offers):
    steps = [{"calls": [create(own, "First thing")]}] + [bash(n) for n in range(1, 14)] + [{"text": "Done."}]
    with Session(client, PROGRAM, model, steps, variables) as session:
        bodies = session.prompt("do it")
        check("the client reminds by itself", appear(bodies, THEIRS) != [], offers)
        check("so one of the two does", appear(bodies, OURS) != [], not offers)


def compactions(client, model, variables, own):
    items = ["Kept zebra", "Kept walrus"]
    calls = [create(own, item) for item in items]
    with Session(client, PROGRAM, model, [{"calls": calls}, {"text": "Done."}], [*variables, OFF]) as session:
        session.prompt("do it")
        for time in range(1, 4):
            session.prompt("/compact")
            first = session.prompt("go on")[0]
            counts = [text_of(first).count(item) for item in items]
            check(f"after /compact number {time} the first request holds each open item", counts, [1, 1])
        first = session.prompt("and on")[0]
        check("after a resume without a compaction too", [text_of(first).count(item) for item in items], [1, 1])
        check("no errors", session.errors(), "")


def notes(client, model, variables, own):
    update = {"name": "TaskUpdate" if own else "mcp__session-todo__TaskUpdate",
              "input": {"taskId": "1", "status": "in_progress"}}
    steps = [{"calls": [create(own, "First thing")]}, {"calls": [update]}, {"text": "Done."}]
    with Session(client, PROGRAM, model, steps, variables) as session:
        session.prompt("do it")
        check("after --resume a note names what was in progress", text_of(session.prompt("go on")[0]).count(UNFINISHED), 1)


def sub_agents(client, model, variables, own):
    agent = {"calls": [{"name": "Agent", "input": {"description": "helps", "prompt": "HELPER", "subagent_type": "general-purpose"}}]}
    helper = [bash(n) for n in range(100, 104)] + [{"calls": [create(own, "The helper's")]}, {"text": "Helped."}]
    steps = [bash(0), {"calls": [create(own, "First thing")]}, agent] + [bash(n) for n in range(4, 25)] + [{"text": "Done."}]
    steps = {"main": steps, "HELPER": helper}
    with Session(client, PROGRAM, model, steps, [*variables, OFF]) as session:
        bodies = [body for body in session.prompt("do it") if "HELPER" not in json.dumps(body["messages"][0])]
        check("reminders of main, with a sub-agent's calls in between", appear(bodies, OURS), [13, 23])
        by_sub = [line for line in session.log() if line.get("event", {}).get("tool_called", {}).get("by") == "sub"]
        calls = [line["event"]["tool_called"]["name"] for line in by_sub]
        # Newer versions run it beside main, and end when main does.
        check("the sub-agent's calls are logged as a sub-agent's", calls, (["Bash"] * 4 + ["TaskCreate"])[:len(calls) or 1])
        # Newer versions do not offer sub-agents the client's own.
        ran = sum("ran" in line["event"]["tool_called"]["outcome"] for line in by_sub if "TaskCreate" in str(line))
        check("its writes that ran are on the list, others not", session.command("list").count("The helper's"), ran)
        check("which of our server's is none", own or ran == 0, True)


def sharing(client, model, variables, own):
    """Where a policy shares the list, a sub-agent's write through our server is on it, and moves nothing of main's clock."""
    if own:
        return
    agent = {"calls": [{"name": "Agent", "input": {"description": "helps", "prompt": "HELPER", "subagent_type": "general-purpose"}}]}
    helper = [{"calls": [create(own, "The helper's")]}, {"text": "Helped."}]
    steps = [bash(0), {"calls": [create(own, "First thing")]}, bash(3), agent] + [bash(n) for n in range(5, 25)] + [{"text": "Done."}]
    with Session(client, PROGRAM, model, {"main": steps, "HELPER": helper},
                 [*variables, OFF, ("SESSION_TODO_POLICY", "claude-code")]) as session:
        bodies = [body for body in session.prompt("do it") if "HELPER" not in json.dumps(body["messages"][0])]
        calls = [line["event"]["tool_called"] for line in session.log() if "TaskCreate" in str(line)]
        check("with a shared list, who wrote", [(call["by"], call["outcome"]) for call in calls], [("main", "ours"), ("sub", "ours")])
        check("both are on the list", session.command("list").count("#"), 2)
        check("reminders of main", appear(bodies, OURS), [13, 23])
        left = os.path.join(session.variables["SESSION_TODO_HOME"], "calls")
        check("no mark is left", os.listdir(left), [])
        check("no errors", session.errors(), "")


def cleared(client, model, variables, own):
    """The hooks and our server go over to the session that `/clear` begins."""
    if own:
        return
    steps = [{"calls": [create(own, "Old thing")]}, {"text": "Done."}, {"calls": [create(own, "New thing")]}, {"text": "Done."}]
    with Session(client, PROGRAM, model, steps, [*variables, OFF]) as session:
        session.prompts("do it", "/clear", "do the other")
        lists = [json.loads(line) for line in session.command("list", "--json").splitlines()]
        lists = sorted([item["content"] for item in one["items"]] for one in lists)
        check("after /clear the new session has a list of its own", lists, [["New thing"], ["Old thing"]])
        check("no errors", session.errors(), "")


def normal(body):
    """A body without what differs between any two runs: ids, times, folders."""
    text = json.dumps(body)
    # The client writes a folder's `_` as `-` in some places.
    text = re.sub(r"hooks-[A-Za-z0-9_-]{8}", "HOME", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b", "ID", text)
    text = re.sub(r"cch=[0-9a-f]+", "cch=ID", text)
    text = re.sub(r"duration_ms: \d+|\d{4}-\d\d-\d\dT[0-9:.]+Z?", "TIME", text)
    return text


def off(client, model, variables, own):
    steps = [{"calls": [create(True, "First thing")]}] + [bash(n) for n in range(1, 14)] + [{"text": "Done."}]
    bodies = []
    for install, more in ((False, []), (True, [("SESSION_TODO_POLICY", "off")])):
        with Session(client, PROGRAM, model, steps, [*variables, *more], install=False) as session:
            if install:
                session.command("install", "claude-code")
                os.remove(os.path.join(session.home, ".claude.json"))
            bodies.append([normal(body) for prompt in ("do it", "/compact", "go on") for body in session.prompt(prompt)])
            check("nothing is logged", os.path.exists(session.variables["SESSION_TODO_HOME"]), False)
    same = [left == right for left, right in zip(*bodies)]
    check("requests with and without the hook", len(bodies[0]), len(bodies[1]))
    check("of these the same, byte for byte, ids and times aside", sum(same), len(bodies[0]))


def main():
    if not HAS_SERVER:
        print("SKIPPED: our MCP tools: this build has no `mcp`", file=sys.stderr)
    wanted = os.environ.get("ONLY", "")
    for name, client, model, variables, offers in CLIENTS:
        version = subprocess.run([client, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
        for own in ways(offers):
            print(f"{name} ({version}), {'its own tools' if own else 'our server'}", flush=True)
            for scenario in (reminders, compactions, notes, sub_agents, sharing, cleared):
                if wanted in scenario.__name__:
                    scenario(client, model, variables, own)
            if wanted:
                continue
            client_reminds(client, model, variables, own, offers)
        if wanted:
            continue
        print(f"{name} ({version}), off", flush=True)
        off(client, model, variables, offers)
    print(f"{len(failures)} failed")
    sys.exit(bool(failures))


main()
