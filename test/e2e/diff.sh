#!/bin/bash
# mmprof diff: a program against itself and against a slower version, one recording each and three.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_command diff

jdk=$(first_jdk)

# CPU time is what the program measures itself by: what else the machine does is nothing to it.
record() {
    "$mmprof" record -q "${@:3}" -o "$SCRATCH/$1.dat" -- \
        "$jdk/bin/java" -cp "$classes" target.Versions "$2" > "$SCRATCH/out" 2>&1 || cat "$SCRATCH/out"
}

is "the phases are searched in a first run" "$(record all 4000 --include target/Versions)" ""
holds "all three methods are phases" \
    "$mmprof" phases --weight 1% --grain 0.1% -o "$SCRATCH/phases.json" "$SCRATCH/all.dat"
phases=(--phases "$SCRATCH/phases.json")
for i in 1 2 3; do
    is "a run of the program is recorded" "$(record same$i 4000 "${phases[@]}")" ""
    is "one before the change, too" "$(record before$i 4000 "${phases[@]}")" ""
    is "and one after it: changed() takes twice as long" "$(record after$i 8000 "${phases[@]}")" ""
done
is "a fourth run is recorded" "$(record before4 4000 "${phases[@]}")" ""
for i in 1 2 3 4; do
    is "changed() takes 30 % longer in another version" "$(record longer$i 5200 "${phases[@]}")" ""
done
cd "$SCRATCH" || exit 1

# diff_of OPTION...: its output is in $said, its messages in $errors, its status in $status.
diff_of() {
    said=$("$mmprof" diff "$@" 2> errors)
    status=$?
    errors=$(cat errors)
}

# field METRIC KEY [METHOD]: of changed(), in CSV.
field() {
    tr -d '\r' <<< "$said" | awk -F , -v metric="$1" -v key="$2" -v method="${3-changed}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["method"] == method && $at["metric"] == metric { print $at[key] }'
}

# between CLAIM NUMBER LOW HIGH
between() {
    if awk -v n="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(n != "" && n >= low && n <= high) }'; then
        ok "$1"
    else
        not_ok "$1" "is '$2', not $3 .. $4" "$said"
    fi
}

said=$("$mmprof" report --view runs --csv before1.dat longer1.dat after1.dat)
between "several runs: a phase's mean is that of its times (4, 5.2 and 8 by 2 ms)" "$(
    awk -v changed="$(field time/call mean)" -v same="$(field time/call mean same)" 'BEGIN { print changed / same }'
)" 2.7 3.04
between "several runs: the coefficient of variation between them is known (35.8 %)" "$(field time/call cov)" 0.33 0.39
between "several runs: it is small of what is always the same" "$(field time/call cov same)" 0 0.05
is "several runs: calls are the same in each" "$(field calls cov) $(field calls runs)" "0 3"
matches "several runs: one is refused" "$("$mmprof" report --view runs before1.dat 2>&1)" 'one trace is one run'

diff_of --csv before1.dat after1.dat
is "one against one: succeeds" "$status$errors" 0
is "one against one: the slower phase is found" "$(field time verdict)" higher
between "one against one: by how much" "$(field time change)" 0.8 1.2
between "one against one: the other phase is as it was" "$(field time change same)" -0.2 0.2
is "one against one: it is called as often" "$(field calls change)" 0
diff_of before1.dat after1.dat
matches "text: a line says so" "$said" '^Versions\.changed +time .* \+[0-9]{2,3}\.[0-9] .* < 0\.0001  higher$'
matches "text: it says what the interval is of" "$said" 'compared by the variation of calls within one run'

diff_of --csv --before before1.dat before2.dat --after after1.dat after2.dat --before before3.dat --after=after3.dat
is "three against three: succeeds" "$status$errors" 0
is "three against three: the slower phase is found" "$(field time verdict)" higher
between "three against three: by how much" "$(field time change)" 0.8 1.2
between "three against three: the interval is around it" "$(field time low)" 0 "$(field time difference)"
diff_of --before before1.dat before2.dat before3.dat --after after1.dat after2.dat after3.dat
matches "text: a caller follows from what it calls" "$said" '^Versions\.main +time .* follows from Versions\.changed$'
matches "text: it says that runs were compared" "$said" "Welch's t-test of logarithms over the traces of each side"

diff_of --csv --before before{1,2,3,4}.dat --after longer{1,2,3,4}.dat
matches "four against four: 30 % more of a phase are shown" "$(field time verdict)$(field adjusted verdict)" higher
slower=(--before before1.dat before2.dat before3.dat --after after1.dat after2.dat after3.dat)
alike=(--before before1.dat before2.dat before3.dat --after same1.dat same2.dat same3.dat)
diff_of --fail-on 'time>20%' "${slower[@]}"
is "a gate: a version that is slower fails with 2" "$status" 2
matches "a gate: it says what broke it" "$errors" \
    '^mmprof: time>20%: Versions\.changed: time rose by [0-9]{2,3}\.[0-9] % \(p '
diff_of --fail-on 'time>0.5%' "${alike[@]}"
is "a gate: one that is alike passes" "$status" 0
matches "a gate: it says what it could not have seen" "$errors" \
    '^mmprof: time>0.5%: more than one in five comparisons would miss such a change in [1-4] of 4 rows'
diff_of --fail-on 'time>190%' "${slower[@]}"
is "a gate: a difference within the limit passes" "$status" 0
diff_of --csv --fail-on 'time<1%' --min-change 80% --before after{1,2,3}.dat --after before{1,2,3}.dat
is "a gate: one of less than the least of interest passes" "$status $(field time verdict)" "0 small"
diff_of --json --fail-on 'time/call<20%' --before after{1,2,3}.dat --after before{1,2,3}.dat
is "a gate: what falls is caught by <" "$status" 2
matches "json: it has its rows" "$said" '"verdict":[[:space:]]*"lower"'

diff_of --csv --side old=before1.dat before2.dat before3.dat --side new=after1.dat after2.dat after3.dat \
    --side same=same1.dat same2.dat same3.dat
is "three versions: succeeds" "$status$errors" 0
is "three versions: a row for each pair, which Tukey's HSD judges" \
    "$(tr -d '\r' <<< "$said" | awk -F , '/changed/ && $3 == "time" { print $4, $5, $10 }')" \
    "$(printf '%s\n' 'old new higher' 'old same not shown' 'new same lower')"

diff_of --csv --profiles before1.dat before2.dat after1.dat
is "profiles: a row for each pair" "$status$errors $(grep -c '^pair,' <<< "$said")" "0 3"
"$mmprof" compare --csv --by context --first 1 before1.dat before2.dat > old 2> errors
"$mmprof" diff --csv --contexts --top 1 --profiles before1.dat before2.dat > new
is "the command that --profiles was prints the same" "$(cat old)" "$(cat new)"
is "and says its name of today" "$(cat errors)" \
    "mmprof: 'mmprof compare' is now 'mmprof diff --profiles'; the old name goes with the next version"

# steps N: a program of so many steps; it prints iterations that get faster until they last 100 ms.
steps() {
    echo "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done
        for t in 900 300 101 100 99 101 ${2-100}; do echo \"iteration in \$t ms\"; done"
}
diff_of --csv --until 40% --runs 3:40 --fail-on 'CPU time>5%' --before "$(steps 5000)" --after "$(steps 20000)"
matches "commands: run until the interval is narrow, and what is slower breaks a limit" "$status $errors" \
    "^2 mmprof: CPU time>5%: process: CPU time of 'after' rose by [0-9.]+ % \(p [<=] 0\.[0-9]+\)$"
is "commands: the slower one is found" "$(field 'CPU time' verdict '')" higher
diff_of --json --until 1% --runs 2:2 --iterations 'in ([0-9]+) ms' --steady 4:2% --before "$(steps 1)" \
    --after "$(steps 1 10)"
matches "iterations: the window that varies little counts" "$said" '"before":[[:space:]]*100\.[0-9]+'
matches "iterations: what came before does not" "$said" 'with a coefficient of variation below 2 %, after 2\.0 others'
diff_of --until 0.01% --runs 2:3 true 'exec true'
matches "commands: at the limit the interval is still wide" "$said" 'still wider than the 0.01 % asked for: allow more'

matches "advise: a program in which nothing is wrong has no hint, or one with its evidence" \
    "$("$mmprof" advise before1.dat 2>&1)" '^(nothing significant: no hint.*|1\. .*)$'

refused() {
    diff_of "${@:3}"
    is "$1: status 1" "$status" 1
    matches "$1: says what to do" "$errors" "$2"
}
refused "nothing to compare" 'next: name a trace before and one after'
refused "profiles and sides" 'next: remove one of them' --profiles before1.dat --after after1.dat
refused "one trace" 'next: name a trace before and one after' before1.dat
refused "three traces without a side" 'next: name several traces as --before A B' before1.dat after1.dat same1.dat
refused "one against two" 'or at least two on each' --before before1.dat --after after1.dat after2.dat
refused "a limit that is none" "next: name a metric" --fail-on 'time=5%' before1.dat after1.dat
refused "a metric that is none" "next: choose one of these: time, self, adjusted, share, calls, time/call" \
    --fail-on 'colour>5%' before1.dat after1.dat
refused "a page and a table" "next: choose one of them" --html none.html --json before1.dat after1.dat
refused "one trace of three versions" "next: name two or more traces of each version" --side a=before1.dat \
    --side b=after1.dat --side c=x
refused "a side without a name" "next: give it a name" --side before1.dat
refused "a limit on what is not measured of commands" "next: choose one of these: CPU time, wall time$" \
    --until 5% --fail-on 'time>5%' true true
refused "a command that fails" "next: run it by itself" --until 5% false true
refused "two commands of a version" "next: put the command in quotes" --until 5% --before java x --after true
refused "a number of runs that is none" "next: give the minimum and maximum" --until 5% --runs 9:3 true true
refused "an expression without parentheses" "next: put parentheses" --until 5% --iterations ms true true
refused "runs of traces" "next: give --until 5%" --runs 3:9 before1.dat after1.dat
refused "a page that cannot be written" 'next: choose another path' --html none/page.html before1.dat after1.dat
refused "a trace that is none" 'gone\.dat' before1.dat gone.dat

done_testing
