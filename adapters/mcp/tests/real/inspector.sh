#!/bin/bash
# The MCP server of $SESSION_TODO, driven by the inspector's command line: a new server for each line here.
set -u
ask() { mcp-inspector --cli -e SESSION_TODO_HOME="$SESSION_TODO_HOME" "$SESSION_TODO" mcp --session inspector "$@" 2>&1; }
call() { ask --method tools/call --tool-name "$@"; }
# holds TEXT WORDS: the words are in the text.
holds() { grep -qF -- "$2" <<<"$1" || { printf 'no %s in:\n%s\n' "$2" "$1"; exit 1; }; }

listed=$(ask --method tools/list)
for tool in todo_write TaskCreate TaskUpdate TaskGet TaskList; do holds "$listed" "\"$tool\""; done
holds "$(call TaskCreate --tool-arg subject=Read --tool-arg description=d)" '#1 [pending] Read'
holds "$(call todo_write --tool-arg 'todos=[{"id":"1","content":"Read","status":"completed"}]')" '#1 [completed] Read'
refused=$(call TaskUpdate --tool-arg taskid=7 --tool-arg status=completed)
holds "$refused" '"isError": true'
holds "$refused" 'The ids there are: 1'
holds "$(call bash)" 'no tool'
holds "$(call TaskList)" '#1 [completed] Read'
