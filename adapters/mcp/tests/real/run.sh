#!/bin/bash
# run.sh SESSION_TODO [FOLDER]: the MCP server of this command, driven by clients made by others.
# Their packages go into FOLDER; without one, into a folder that is removed at the end.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export SESSION_TODO=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
packages=${2:-$scratch/packages}
mkdir -p "$packages"
export PATH="$packages/node_modules/.bin:$PATH"
unset SESSION_TODO_SESSION CLAUDE_CODE_SESSION_ID
passed=0 failed=0 skipped=0

skip() { printf 'SKIPPED: %s\n' "$*" >&2; skipped=$((skipped + 1)); }

# check NAME COMMAND...: in a log folder of its own.
check() {
  local name=$1
  shift
  if SESSION_TODO_HOME="$scratch/$name" "$@"; then
    printf 'ok: %s\n' "$name"
    passed=$((passed + 1))
  else
    printf 'FAILED: %s\n' "$name"
    failed=$((failed + 1))
  fi
}

python_has_mcp() {
  [ -x "$packages/venv/bin/python" ] || python3 -m venv "$packages/venv" || return
  "$packages/venv/bin/python" -c 'import mcp' 2>/dev/null || "$packages/venv/bin/pip" install --quiet mcp==2.3.0
}

# node_has COMMAND PACKAGE
node_has() {
  [ -e "$packages/node_modules/.bin/$1" ] || npm install --silent --no-audit --no-fund --prefix "$packages" "$2"
}

if python_has_mcp >"$scratch/told" 2>&1; then
  check python "$packages/venv/bin/python" "$here/python_client.py"
else
  skip "Python's mcp can't be installed here: $(tail -n 1 "$scratch/told")"
fi
if node_has mcp-inspector @modelcontextprotocol/inspector@0.15.0 >"$scratch/told" 2>&1; then
  check inspector bash "$here/inspector.sh"
else
  skip "the inspector can't be installed here: $(tail -n 1 "$scratch/told")"
fi
if node_has opencode opencode-ai@1.18.33 >"$scratch/told" 2>&1 && opencode --version >"$scratch/told" 2>&1; then
  check opencode bash "$here/opencode.sh" "$scratch/opencode-home"
else
  skip "OpenCode can't be installed here: $(tail -n 1 "$scratch/told")"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
