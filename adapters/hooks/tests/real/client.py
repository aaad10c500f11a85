"""One session of the real client against the scripted model, in a home of its own."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SESSION = "11111111-2222-4333-8444-555555555555"


class Session:
    def __init__(self, client, program, model, steps, variables=(), install=True):
        self.client, self.program, self.model = client, program, model
        self.home = tempfile.mkdtemp(prefix="hooks-")
        self.work = os.path.join(self.home, "work")
        os.makedirs(self.work)
        self.runs = 0
        self.wire = os.path.join(self.home, "wire.jsonl")
        script = os.path.join(self.home, "script.json")
        with open(script, "w") as file:
            json.dump(steps if isinstance(steps, dict) else {"main": steps}, file)
        self.server = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "model.py"), script, self.wire], stdout=subprocess.PIPE, text=True)
        port = self.server.stdout.readline().strip()
        self.variables = {
            "PATH": os.path.dirname(client) + os.pathsep + os.environ["PATH"], "HOME": self.home,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "none",
            "SESSION_TODO_HOME": os.path.join(self.home, "logs"), "TMPDIR": self.home,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
            **dict(variables),
        }
        if install:
            self.command("install", "claude-code")

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        self.server.kill()
        self.server.wait()
        if not failed:
            shutil.rmtree(self.home, ignore_errors=True)

    def command(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.variables, cwd=self.work, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    def start(self, *prompt):
        session = ["--resume", SESSION] if self.runs else ["--session-id", SESSION]
        self.runs += 1
        return [self.client, "-p", *prompt, "--model", self.model, *session,
                "--allowedTools", "Bash(echo:*)", "Agent", "Task", "mcp__session-todo"]

    def prompt(self, text):
        """One process of the client; each after the first resumes. Gives the bodies of its requests."""
        before = len(self.requests())
        done = subprocess.run(
            self.start(text), env=self.variables, cwd=self.work, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode:
            raise AssertionError(f"the client ended with {done.returncode}: {done.stdout[-2000:]}")
        return self.requests()[before:]

    def prompts(self, *texts):
        """Several prompts in one process of the client, each when the one before has its result."""
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        client = subprocess.Popen([*self.start(), *streams], env=self.variables, cwd=self.work, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        late = threading.Timer(300, client.kill)
        late.start()
        for text in texts:
            message = {"role": "user", "content": text}
            client.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
            client.stdin.flush()
            for line in client.stdout:
                if json.loads(line).get("type") == "result":
                    break
        client.stdin.close()
        client.stdout.read()
        late.cancel()
        if client.wait():
            raise AssertionError(f"the client ended with {client.returncode}")

    def requests(self):
        if not os.path.exists(self.wire):
            return []
        with open(self.wire) as file:
            bodies = [json.loads(line) for line in file]
        return [body for body in bodies if len(body.get("tools") or []) > 3]

    def errors(self):
        path = os.path.join(self.variables["SESSION_TODO_HOME"], "errors.log")
        return open(path).read() if os.path.exists(path) else ""

    def log(self):
        return [json.loads(line) for line in self.command("log", "show", SESSION).splitlines()]
