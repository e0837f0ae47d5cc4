#!/bin/bash
# mmprof diff --until --output: two commands are run, recorded and compared by phase, in tables and as one page.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command diff

jdk=$(first_jdk)
java="$jdk/bin/java -cp $classes target.Versions"
cd "$SCRATCH" || exit 1

commands=(--until 90% --runs 3:3 --before "$java 1000 500" --after "$java 3000 500")
"$mmprof" diff "${commands[@]}" -o runs > said 2> errors
is "two commands are run and recorded" "$?$(cat errors)" 0
is "each run that counts has its trace" "$(cd runs && echo *)" \
    "after-1.dat after-2.dat after-3.dat before-1.dat before-2.dat before-3.dat"
matches "a table has what the runs took" "$(cat said)" '^process +CPU time +before +after '
matches "and another what differs" "$(cat said)" '^whole process +time .* higher'
matches "by phase, too" "$(cat said)" '^Versions\.changed +time '
mv said first
"$mmprof" diff "${commands[@]}" -o runs > said 2> errors
is "traces that are there are kept" $? 1
matches "with what to do" "$(cat errors)" "^mmprof diff: 'runs' has 6 traces already"
"$mmprof" diff "${commands[@]}" -o others --html page.html > said 2> errors
is "one page can be written in their place" "$?$(cat said errors)" 0
holds "it has the runs" grep -q '"runs":' page.html
holds "and the flame graph with the phases" grep -q 'Versions.changed' page.html
"$mmprof" diff --until 90% --runs 2:2 --before true --after true --html tables.html > said 2> errors
is "a page of commands that are not recorded has the table" "$?$(cat said errors)" 0
"$mmprof" diff -o more --before runs/before-1.dat --after runs/after-1.dat > said 2> errors
is "traces are not recorded again" "$? $(head -n 1 errors)" "1 mmprof diff: --output is for commands that are run"
done_testing
