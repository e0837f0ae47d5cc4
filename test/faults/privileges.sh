#!/bin/bash
# Capabilities that a user does not have by himself stay with mmprof: no library, pager or command that he names gets
# them, and no file is written with them.
. "$(dirname "$0")/faults.bash"

[ "$(id -u)" = 0 ] || skip_all "it takes root to give capabilities"
for tool in setcap setpriv cc script; do
    command -v $tool > "$SCRATCH/which" || skip_all "there is no '$tool'"
done

# A place that another user can enter, whatever the scratch directory's mode.
place=$(mktemp -d)
mkdir "$place/rows" "$place/roots" "$place/all"
chmod 755 "$place" "$place/rows"
chmod 700 "$place/roots"
chmod 1777 "$place/all"
trap 'rm -rf "$place"; at_exit' EXIT
cat > "$place/named.c" << 'END'
#include <stdio.h>
#include <string.h>
__attribute__((constructor)) static void loaded(void)
{
    char line[256];
    FILE *in = fopen("/proc/self/status", "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, "Cap", 3) == 0 && strncmp(line, "CapBnd", 6) != 0)
            fputs(line, stderr);
}
END
cc -shared -fPIC -o "$place/named.so" "$place/named.c"
for name in plain given setuid; do
    mkdir -p "$place/$name/libexec"
    cp -r "$build/libexec/mmprof" "$place/$name/libexec"
    cp "$mmprof" "$build"/libmmprof-*.so "$place/$name"
done
cp "$(command -v grep)" "$place"
setcap cap_perfmon,cap_dac_override+ep "$place/given/mmprof" 2> "$SCRATCH/said" &&
    setcap cap_perfmon+ep "$place/given/libexec/mmprof/mmprof-fleet" &&
    setcap cap_perfmon+ep "$place/grep" 2>> "$SCRATCH/said" ||
    skip_all "files cannot be given capabilities here: $(head -n 1 "$SCRATCH/said")"
chmod 4755 "$place/setuid/mmprof"

user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
ambient=("${user[@]}" --inh-caps=+perfmon --ambient-caps=+perfmon)
"${user[@]}" "$place/grep" -q 'CapEff:.*[1-9a-f]' /proc/self/status ||
    skip_all "capabilities of files have no effect here (nosuid)"

show='grep -H ^Cap[IPEA] /proc/self/status'

# none CLAIM TEXT: it lists four sets of capabilities, which are empty.
none() {
    is "$1" "$(grep -ao 'Cap[IPEA][a-z]*:.*' <<< "$2" | tr -d '\r' | awk '{ print $2 }' | sort | uniq -c)" \
        "      4 0000000000000000"
}

said=$("${user[@]}" env MMPROF_DUCKDB="$place/named.so" "$place/given/mmprof" fleet sql "$place/rows" 'SELECT 1' 2>&1)
is "a file's capabilities: MMPROF_DUCKDB is refused" "$said" \
    "mmprof fleet: the file of this program has capabilities, so it does not load the library '$place/named.so'
  next: use a copy of it, which has none, or leave out MMPROF_DUCKDB"
said=$("${user[@]}" "$place/given/mmprof" fleet sql --duckdb "$place/named.so" "$place/rows" 'SELECT 1' 2>&1)
matches "and --duckdb" "$said" "^  next: .*, or leave out --duckdb$"
for fleet in "mmprof fleet" libexec/mmprof/mmprof-fleet; do
    # shellcheck disable=SC2086
    said=$("${ambient[@]}" env MMPROF_DUCKDB="$place/named.so" "$place/plain/"$fleet sql "$place/rows" 'SELECT 1' 2>&1)
    none "ambient capabilities of '$fleet': a library has none" "$said"
done

touch "$place/stop"
"$mmprof" record -q --all-methods -o "$place/t.dat" -- "$(first_jdk)/bin/java" -cp "$classes" \
    target.Busy "$place/stop" \
    > "$SCRATCH/said" 2>&1
in_terminal "$SCRATCH/ambient" "${ambient[*]} env MMPROF_PAGER='$show' $place/plain/mmprof dump $place/t.dat" \
    < /dev/null
none "ambient capabilities: a pager has none" "$(cat "$SCRATCH/ambient")"
in_terminal "$SCRATCH/file" "${user[*]} env MMPROF_PAGER='$show' PAGER='$show' $place/given/mmprof dump $place/t.dat" \
    <<< q
is "a file's capabilities: a pager that the environment names is not run" "$(grep -ac status:Cap "$SCRATCH/file")" 0
for how in given plain; do
    [ $how = given ] && by=("${user[@]}") what="a file's" || { by=("${ambient[@]}"); what=ambient; }
    for command in "sample -d 1" "record -q --live -d 1"; do
        # shellcheck disable=SC2086
        none "$what capabilities: a command of '${command%% *}' has none" \
            "$("${by[@]}" "$place/$how/mmprof" $command -o /dev/null -- $show 2>&1)"
    done
    "${by[@]}" "$place/$how/mmprof" diff --until 50% --runs 2 --before "$show > $place/all/caps" --after true \
        > "$SCRATCH/said" 2>&1
    none "$what capabilities: a command of 'diff' has none" "$(cat "$place/all/caps")"
    rm "$place/all/caps"
done

"${user[@]}" "$place/given/mmprof" sample -d 1 -o "$place/roots/s.dat" -- sleep 0.1 > "$SCRATCH/said" 2>&1
is "no file is written with a file's capabilities" "$(ls "$place/roots")" ""

said=$("${user[@]}" "$place/setuid/mmprof" ps 2>&1)
is "a set-user-ID mmprof is refused: exit status" $? 1
matches "and says what to do" "$said" "^  next: run 'chmod ug-s' on it"

# What the manual advises.
matches "setpriv gives CAP_PERFMON to one process" "$("${ambient[@]}" "$place/plain/mmprof" doctor 2>&1)" \
    "^ok    perf .*, but this user may count"
done_testing
