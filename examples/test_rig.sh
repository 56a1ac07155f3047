#!/usr/bin/env bash
# Drives a nav and checks it: test_rig.sh NAV. Prints one line for each check; status 1 if one failed.
# With JUNIT=FILE it also writes a report for a CI server.
set -euo pipefail

NAVD_NAV=$1
export NAVD_NAV
failures=0
cases=()

# check NAME STATUS COMMAND...: runs a command, which must end with this exit status.
check() {
  local name=$1 expected=$2 status=0 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  if ((status == expected)); then
    echo "ok    $name"
    cases+=("<testcase name=\"$name\"/>")
  else
    echo "FAIL  $name: status $status, not $expected"
    printf '      %s\n' "$output"
    cases+=("<testcase name=\"$name\"><failure message=\"status $status, not $expected\"/></testcase>")
    failures=$((failures + 1))
  fi
}

# member PATH EXPECTED COMMAND...: a member of the JSON that a command prints, such as value.id.
member() {
  local path=$1 expected=$2
  shift 2
  "$@" -o json | python3 -c '
import functools, json, sys
value = functools.reduce(lambda part, key: part[key], sys.argv[1].split("."), json.load(sys.stdin))
sys.exit(0 if str(value) == sys.argv[2] else f"{sys.argv[1]} is {value}, not {sys.argv[2]}")' "$path" "$expected"
}

plan=$(mktemp)
trap 'rm -f "$plan"' EXIT
cat >"$plan" <<'PLAN'
if --top home
push settings --title Settings --route settings
push wifi --title Wi-Fi --route settings/wifi
PLAN

navctl create --root home --title Home --if-absent >/dev/null
navctl stack home --any >/dev/null

check 'a dry run changes nothing' 0 navctl apply --dry-run "$plan"
check 'home is on top still' 0 member value.id home navctl get --what top
check 'a plan makes one revision' 0 navctl apply "$plan"
check 'wifi comes to the top' 0 navctl wait --top wifi --timeout 10s
check 'the bar has its title' 0 member value.middle.title Wi-Fi navctl get --what bar
check 'the plan fails on another top' 3 navctl apply "$plan"
check 'a pop of an old top is refused' 3 navctl pop --top settings
check 'a pop of the top succeeds' 0 navctl pop --top wifi
check 'an unknown screen is refused' 6 navctl pop-to nowhere
check 'the digests are right' 0 navctl verify

if [[ -n ${JUNIT:-} ]]; then
  printf '<testsuite name="%s" tests="%d" failures="%d">%s</testsuite>\n' \
    "$NAVD_NAV" "${#cases[@]}" "$failures" "${cases[*]}" >"$JUNIT"
fi
((failures == 0))
