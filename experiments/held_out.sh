#!/usr/bin/env bash
# Which of its own solvers does evolution find again? Five seeds; each takes 20 of the 65 embedded solvers away.
#
#     experiments/held_out.sh [TIME] [CORES]      10m and 2 if nothing is said
#
# docs/evolution.md has the results. Needs python3 for the sums.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time="${1:-10m}"
cores="${2:-2}"
cargo build --release --quiet
batt="${CARGO_TARGET_DIR:-target}/release/batt"
results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
for seed in 0 1 2 3 4; do
    "$batt" evolve --hold-out 20 --seed "$seed" --time "$time" --jobs "$cores" --device cpu --quiet --json >"$results/$seed.json"
done
python3 - "$results" <<'P'
import json, statistics, sys
found, right = [], []
for seed in range(5):
    run = json.load(open(f"{sys.argv[1]}/{seed}.json"))
    found.append(run["solved"] / run["held_out"])
    right.append(run["right_on_tests"] / run["held_out"])
    print(f"seed {seed}: {run['solved']} of {run['held_out']} on the demonstrations, {run['right_on_tests']} on the tests too, "
          f"{run['time']['offspring_per_minute']:,} offspring a minute")
for name, shares in (("demonstrations", found), ("tests too", right)):
    print(f"{name}: {statistics.mean(shares):.0%} on the average, standard deviation {statistics.pstdev(shares):.1%}")
P
