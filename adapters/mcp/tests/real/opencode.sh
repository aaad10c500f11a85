#!/bin/bash
# opencode.sh FOLDER: the MCP server of $SESSION_TODO in OpenCode, put there by `install opencode`. A scripted model
# calls todo_write; OpenCode is started again, and the model asks for the list.
set -u
here=$(cd "$(dirname "$0")" && pwd)
with_model="${WITH_MODEL:-$here/../../../../tests/fixtures/record/with-model.sh}"
home=$1
mkdir -p "$home/project" "$home/.config/opencode"
cat >"$home/.config/opencode/opencode.json" <<'SETTINGS'
{
  // The scripted model stands in for a real one.
  "provider": {
    "mock": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:{env:PORT}/v1", "apiKey": "none" },
      "models": { "m": {} }
    }
  },
  "model": "mock/m"
}
SETTINGS
cat >"$home/write.json" <<'SCRIPT'
[{"calls": [{"name": "session-todo_todo_write", "input": {"todos": [
   {"content": "Read the parser", "status": "in_progress"}, {"content": "Write the tests", "status": "pending"}]}}]},
 {"text": "Done."}]
SCRIPT
echo '[{"calls": [{"name": "session-todo_TaskList", "input": {}}]}, {"text": "Done."}]' >"$home/read.json"

# in_opencode COMMAND...: with nothing of this machine but its programs.
in_opencode() {
  (cd "$home/project" && env -i PATH="$PATH" HOME="$home" PWD="$home/project" PORT="${PORT:-}" \
    SESSION_TODO_HOME="$SESSION_TODO_HOME" OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 "$@")
}
export -f in_opencode
export home
# says WIRE WORDS: the words are in a tool's answer that the model was sent.
says() {
  python3 - "$@" <<'LOOK' || { cat "$home/told"; exit 1; }
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
answers = [m["content"] for line in lines for m in line["body"]["messages"] if m["role"] == "tool"]
sys.exit(0 if any(sys.argv[2] in str(answer) for answer in answers) else f"no {sys.argv[2]!r} in {answers}")
LOOK
}

in_opencode "$SESSION_TODO" install opencode >"$home/told" || exit 1
for step in write read; do
  bash "$with_model" "$home/$step.json" "$home/$step.wire" \
    bash -c 'in_opencode timeout 120 opencode run "do it"' >>"$home/told" 2>&1
  says "$home/$step.wire" '#1 [in_progress] Read the parser'
  says "$home/$step.wire" '#2 [pending] Write the tests'
done
in_opencode "$SESSION_TODO" install opencode --uninstall >>"$home/told" || exit 1
! grep -q session-todo "$home/.config/opencode/opencode.json"
