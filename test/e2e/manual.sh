#!/bin/bash
# The manual: each command has a page and a row in mmprof.1; pages and --help name the same options.
# beside: yes
. "$(dirname "$0")/../lib.sh"

commands() {
    "$mmprof" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The long options of a help text (each has one row), and of a page's lists, one a line, sorted.
options_of_help() {
    sed -nE 's/^  (-., |    )--([a-z][a-z-]*).*/\2/p' "$1" | sort
}

options_of_page() {
    grep '^\.It Fl' "$1" | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/^Fl -//' | sort -u
}

page_has_row() {
    grep -qE "^\.(It|Xr) .*mmprof-$2 1" "$1"
}

list=$(commands)
[ -n "$list" ] && ok "the commands are listed" || not_ok "the commands are listed" "$("$mmprof" help 2>&1)"
for command in $list; do
    page=$root/man/mmprof-$command.1
    if [ ! -f "$page" ]; then
        not_ok "mmprof $command has a page" "no man/mmprof-$command.1"
        continue
    fi
    "$mmprof" help "$command" > "$SCRATCH/help" 2>&1
    is "mmprof help $command succeeds" $? 0
    [ "$(options_of_help "$SCRATCH/help" | wc -l)" -le 25 ] && ok "it shows 25 options at most" ||
        not_ok "it shows 25 options at most" "$(cat "$SCRATCH/help")"
    "$mmprof" "$command" --help-all > "$SCRATCH/help" 2>&1
    is "man/mmprof-$command.1 has the options of mmprof $command --help-all" "$(options_of_page "$page")" \
        "$(options_of_help "$SCRATCH/help")"
    page_has_row "$root/man/mmprof.1" "$command" && ok "mmprof.1 has a row for $command" ||
        not_ok "mmprof.1 has a row for $command" "no line '.It Xr mmprof-$command 1'"
done
for page in "$root"/man/mmprof-*.1; do
    command=${page##*/mmprof-}
    command=${command%.1}
    grep -qx "$command" <<< "$list" && ok "man/mmprof-$command.1 describes a command" ||
        not_ok "man/mmprof-$command.1 describes a command" "'mmprof help' lists: $(tr '\n' ' ' <<< "$list")"
done

page_of_report=$root/man/mmprof-report.1
is "man/mmprof-report.1 has the views of mmprof report --views" \
    "$(sed -n '/^\.It Fl -view /,/^\.El/s/^\.It Cm \([a-z]*\).*/\1/p' "$page_of_report" | sort)" \
    "$("$mmprof" report --views | sed -n 's/^  \([a-z]*\).*/\1/p' | sort)"

# completed WORD...: what bash offers for the last of the words behind 'mmprof'.
completed() {
    COMP_WORDS=("$mmprof" "$@") COMP_CWORD=$# COMPREPLY=()
    _mmprof "$mmprof" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort -u
}

eval "$("$mmprof" completion bash)"
is "bash completes commands" "$(completed '')" "$(sort <<< "$list")"
is "a part of one, too" "$(completed prof)" profile
for command in $list; do
    "$mmprof" "$command" --help-all > "$SCRATCH/help"
    is "bash completes the options of $command" "$(completed "$command" --)" \
        "$({ options_of_help "$SCRATCH/help"; echo help; } | sed 's/^/--/' | sort -u)"
done
is "the views of report" "$(completed report --view p)" "$(printf '%s\n' pauses phases)"
is "but no option of a command that is started" "$(completed record -- java -)" ""
is "the formats of export" "$(completed export -f p | xargs)" "parquet pprof"
formats_of_export=$(sed -n 's/^\.It Cm //p' "$root/man/mmprof-export.1" | tr -d ' ' | tr , '\n' | sort)
is "man/mmprof-export.1 has all of them" "$formats_of_export" "$(completed export -f '')"
matches "zsh has a script, too" "$("$mmprof" completion zsh | head -n 1)" '^#compdef mmprof$'

# zsh_completed WORD...: what zsh offers, by stand-ins of its functions.
zsh_completed() {
    zsh -fc 'compdef() { }
        _describe() { print -rl -- "${(@)${(P)2}%%:*}" }
        _files() { print files }
        eval "$("$1" completion zsh)"
        words=("$@") CURRENT=$#
        _mmprof' zsh "$mmprof" "$@" | sort -u
}

if ! command -v zsh > "$SCRATCH/which"; then
    skip "zsh completes the same" "zsh is not installed"
else
    is "zsh completes commands" "$(zsh_completed '')" "$(sort <<< "$list")"
    for command in export record; do
        is "the options of $command" "$(zsh_completed "$command" --)" "$(completed "$command" --)"
    done
    is "the formats of export, all of them" "$(zsh_completed export --format '' | xargs)" \
        "$(completed export -f '' | xargs)"
    is "but no option of a command that is started" "$(zsh_completed record -- java --)" files
fi
is "another shell is refused" "$("$mmprof" completion fish 2>&1 | grep -c 'next: ')" 1

printf '  -o, --output FILE      write\n      --tree             print\nSee --weight.\n' > "$SCRATCH/help"
printf '.It Fl o , Fl -output Ar FILE\n.It Fl -trees\nLike\n.Fl -grain .\n' > "$SCRATCH/page"
is "options are read from a help text" "$(options_of_help "$SCRATCH/help" | xargs)" "output tree"
is "options are read from a page" "$(options_of_page "$SCRATCH/page" | xargs)" "output trees"

# unwritten PAGE: tests that its list of claims names, and nobody has.
unwritten() {
    sed -nE 's/^\.It Pa (.*\.(sh|c).*)/\1/p' "$1" | tr ' ,' '\n\n' | grep . | while read -r name; do
        find "$root"/test/{faults,e2e,unit} -name "$name" | grep -q . || echo "$name"
    done
}
is "each test that mmprof-faults.7 names is there" "$(unwritten "$root/man/mmprof-faults.7")" ""
printf '.It Pa limits.sh , nobody_has.sh\n' > "$SCRATCH/page"
is "one that is not is found" "$(unwritten "$SCRATCH/page")" nobody_has.sh

# Each macro quotes to the end of its line: '.Pq Sq yes No or Sq no' is printed as (‘yes or ‘no’’).
nested='^\.(Pq |Sq |Ql ).*\b(Sq|Ql) .*\b(Sq|Ql|No) |^\.Pq (Sq|Ql) .* No |^\.Sq [^ ]+ .*\b(Sq|No) |\bFl -[a-z-]+ : [a-z]'
is "a quote that is not closed is found" "$(printf '.Pq Sq yes No or Sq no\n.Pq Sq yes\n' | grep -cE "$nested")" 1
is "each quote in the pages is closed" "$(grep -nE "$nested" "$root"/man/*.[1-8])" ""

# Where columns are wider than the page, a table's cells stand on lines of their own.
if ! command -v nroff > "$SCRATCH/which"; then
    skip "each page can be set" "nroff is not installed"
else
    for page in "$root"/man/*.[1-8]; do
        [ -z "$(nroff -mdoc -rLL=78n "$page" 2>&1 > "$SCRATCH/set")" ] || echo "${page##*/}"
    done > "$SCRATCH/unset"
    is "each page can be set, 78 characters wide" "$(cat "$SCRATCH/unset")" ""
fi

if ! command -v mandoc > "$SCRATCH/which"; then
    skip "mandoc finds nothing to warn about" "mandoc is not installed"
else
    for page in "$root"/man/*.[1-8]; do
        is "mandoc has no warning for man/${page##*/}" "$(mandoc -Tlint -Wwarning "$page" 2>&1)" ""
    done
    printf '.Dd $Mdocdate$\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n.Sh DESCRIPTION\n.Bl -tag\n.Pp\n' > "$SCRATCH/x.1"
    [ -n "$(mandoc -Tlint -Wwarning "$SCRATCH/x.1" 2>&1)" ] && ok "mandoc warns about a bad page" ||
        not_ok "mandoc warns about a bad page"
fi

done_testing
