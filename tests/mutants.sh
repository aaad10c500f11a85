#!/usr/bin/env bash
# Shows that each law can fail: on a copy, one line of the core is changed, the change compiles, and the
# law's test fails. A line that no longer matches, a change that does not compile and a test that passes are errors.
set -euo pipefail
cd "$(dirname "$0")/.."

# law @ file @ what is changed (sed) @ test
mutants() {
  cat <<'TABLE'
1 a long id of digits is parsed without care@core/src/list.rs@s/id\.parse()\.ok()\.filter(|&number: &u64| number < 1 << 32)/Some(id.parse().unwrap())/@law1_step_never_panics
2 an address stands in a result@core/src/text.rs@s/ToolResult { text: out, is_error/ToolResult { text: alloc::format!("{out}{session:p}"), is_error/@law2_same_log_same_state_and_effects
3 the copy of L13 is not stored@core/src/state.rs@s/Self { version: State::VERSION, list, set_aside, copy, pace }/{ drop(copy); Self { version: State::VERSION, list, set_aside, copy: None, pace } }/@law3_replay_is_refolding
4 a refused call has no result@core/src/session.rs@s/Change::Call(called) if !called\.ours => None/Change::Call(called) if !called.ours || called.result.is_err() => None/@law4_a_result_for_every_call_of_ours
5 a failed call restarts the clock@core/src/session.rs@s/Outcome::Failed => return Change::None,/Outcome::Failed => { self.state.pace.restart(); return Change::None },/@law5_no_effect_is_no_change
6 the number of a removed item is given again@core/src/write.rs@s/let mut highest = list\.highest;/let mut highest = list.items.iter().filter_map(|item| decimal(\&item.id)).max().unwrap_or(0);/@law6_numbers_and_limits
7 a sub-agent's calls count as main's@core/src/session.rs@s/if call\.by == Caller::Main {/if call.by != Caller::Record {/@law7_others_leave_the_clock_alone
8 a reminder comes one request early@core/src/pace.rs@s/self\.requests\.saturating_sub(self\.written) > u64/self.requests.saturating_sub(self.written) >= u64/@law8_the_model_says_the_same
9 a snapshot holds shown text@core/src/text.rs@s/push_json(&mut body, &item\.content);/push_json(\&mut body, \&shown(\&item.content));/@law9_a_snapshot_is_an_argument
11 a checkpoint's checksum is not looked at@core/src/checkpoint.rs@s/if head\.get(CHECKSUM) != Some/if head.is_empty() \&\& head.get(CHECKSUM) != Some/@law11_a_stored_state_is_the_state
TABLE
}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$copy/target}"
cd "$copy"
run() { cargo test --quiet -p session-todo-tests --test all -- --exact "laws::$1" >"$copy/output" 2>&1; }

failed=0 passed=0
while IFS='@' read -r name file change test; do
  cp "$file" "$copy/original"
  sed -i "$change" "$file"
  verdict="killed by $test"
  if cmp -s "$file" "$copy/original"; then verdict="ERROR: the line to change is not there"
  elif ! cargo build --quiet -p session-todo --all-features 2>"$copy/output"; then verdict="ERROR: it does not compile"; cat "$copy/output"
  elif run "$test"; then verdict="ERROR: $test passes all the same"
  elif ! grep -q "^test result: FAILED. 0 passed; 1 failed" "$copy/output"; then verdict="ERROR: $test did not run"; tail -5 "$copy/output"
  fi
  cp "$copy/original" "$file"
  case "$verdict" in ERROR*) failed=$((failed + 1)) ;; *) passed=$((passed + 1)) ;; esac
  printf 'law %s: %s\n' "$name" "$verdict"
done < <(mutants)
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
