#!/bin/bash
# timeout: 600
# takes: 50
# The time line has the counts that perf stat -I prints at the same moments.
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=1

# steps: end (s), cycles and instructions of each step, all parts of the VM together.
steps() {
    "$mmprof" report --view timeline=10ms --csv "$trace" | sed 's/\r//; s/"[^"]*"//g' | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == "region" || $1 == "phase" { next }
        $at["start_ns"] != start { if (n++) print end, cycles, instructions; cycles = instructions = 0 }
        { start = $at["start_ns"]; end = $at["end_ns"] / 1e9 }
        { cycles += $at["cycles"]; instructions += $at["instructions"] }
        END { print end, cycles, instructions }'
}

# by_perf: time since its start (s), cycles and instructions in each of perf's intervals.
by_perf() {
    awk -F, '$4 == "cycles:u" { cycles = $2 } $4 == "instructions:u" { print $1 + 0, cycles + 0, $2 + 0 }' \
        "$SCRATCH/stat"
}

# compare: perf starts later than the recording; how much later is where both agree best.  Prints that (s), how far the
# sums of instructions are apart at most (per cent of all), and the CPIs of an interval (per cent).
compare() {
    awk '
        FNR == 1 { file++ }
        file == 1 { t[++n] = $1; c[n] = c[n - 1] + $2; i[n] = i[n - 1] + $3 }
        file == 2 { pt[++pn] = $1; pc[pn] = pc[pn - 1] + $2; pi[pn] = pi[pn - 1] + $3 }
        function at(values, when,   k) {
            for (k = 1; k < n && t[k] < when; k++)
                ;
            if (when >= t[k])
                return values[k]
            return values[k] - (values[k] - values[k - 1]) * (t[k] - when) / (t[k] - t[k - 1])
        }
        function off(since,   k, most, d) {
            for (k = 1; k <= pn; k++) {
                d = at(i, since + pt[k]) - at(i, since) - pi[k]
                most = d > most ? d : -d > most ? -d : most
            }
            return 100 * most / pi[pn]
        }
        END {
            t[0] = 0
            best = 1e9
            for (since = 0; since < t[n]; since += 0.005)
                if ((o = off(since)) < best) {
                    best = o
                    where = since
                }
            for (k = 1; k <= pn; k++) {
                own = at(i, where + pt[k]) - at(i, where + pt[k - 1])
                if (pi[k] - pi[k - 1] < 0.01 * pi[pn] || own <= 0)
                    continue
                ratio = (at(c, where + pt[k]) - at(c, where + pt[k - 1])) / own
                d = 100 * (ratio / ((pc[k] - pc[k - 1]) / (pi[k] - pi[k - 1])) - 1)
                cpi = d > cpi ? d : -d > cpi ? -d : cpi
                compared++
            }
            print where, best, cpi + 0, compared + 0
        }' "$SCRATCH/steps" "$SCRATCH/perf"
}

# A program that waits, mmprof, and perf, which counts all that it does from then on.
go=$SCRATCH/go trace=$SCRATCH/when.dat
: > "$SCRATCH/java.out"
start "$SCRATCH/java.out" java -Xmx256m -cp "$classes" pmu.MixedWork 1500 "$go"
wait_for 60 grep -q READY "$SCRATCH/java.out"
"$mmprof" record -q -p "$pid" -e cycles,instructions --include 'pmu/*' --min-bytecodes 0 -o "$trace" \
    > "$SCRATCH/out" 2>&1 &
recording=$!
wait_for 60 sh -c "'$mmprof' dump '$trace' 2> '$SCRATCH/dump.err' | grep -q instrument.ms"
perf stat -I 100 -x, -e cycles:u,instructions:u -p "$pid" -o "$SCRATCH/stat" &
perf=$!
wait_for 30 sh -c "ls -l /proc/$perf/fd | grep -q perf_event"
sleep 0.5
touch "$go"
wait $perf
wait $recording # not in holds: a subshell has no children
is "the recording ends with the program" $? 0

steps > "$SCRATCH/steps"
by_perf > "$SCRATCH/perf"
read -r since apart cpi compared <<< "$(compare)"
echo "# perf started $since s after the recording; $(wc -l < "$SCRATCH/perf") intervals, $compared with much in them"
between "at each of perf's moments as many instructions have passed: per cent of all" "$apart" 0 2
between "in each of its intervals CPI is the same: per cent" "$cpi" 0 2
between "so many intervals were compared" "$compared" 5 1000
echo "# as printed:"
"$mmprof" report --view timeline "$trace" | sed 's/^/# /'

done_testing
