#!/usr/bin/env bash
# The hooks in the real Claude Code, against a scripted model: needs npm and Python, no account and no model.
#
# usage: run.sh PROGRAM [FOLDER]
#
# PROGRAM is a built session-todo. The client is installed into FOLDER (a temporary one unless named), in the
# versions OLD and NEW, which the environment may set. Where npm can't have it, that is said and all is skipped.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$(realpath "$1")"
folder="${2:-$(mktemp -d)}"
mkdir -p "$folder"
for version in "${OLD:-2.1.197}" "${NEW:-latest}"; do
  if ! npm install --silent --no-fund --no-audit --prefix "$folder/$version" "@anthropic-ai/claude-code@$version" >"$folder/npm.log" 2>&1; then
    printf 'SKIPPED: the real Claude Code: npm has no version %s here\n' "$version" >&2
    exit 0
  fi
done
exec python3 "$here/run.py" "$program" "$folder/${OLD:-2.1.197}" "$folder/${NEW:-latest}"
