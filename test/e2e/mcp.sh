#!/bin/bash
# mmprof mcp: what it answers and refuses, and that it leaves nothing behind; and 'report --for-agents' in it, which
# names planted faults.
# timeout: 400
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command mcp
command -v python3 > "$SCRATCH/which" || skip_all "python3 is not installed"

export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"

# ---- messages, without a JVM ----

# asked LINE...: the answers to these lines, a line each.
asked() {
    printf '%s\n' "$@" | "$mmprof" mcp
}

# call ID TOOL ARGUMENTS
call() {
    printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}' "$@"
}

# The version that a client wants, and what it gets.
versions='2025-11-25:2025-11-25 2025-06-18:2025-06-18 2025-03-26:2024-11-05 2024-11-05:2024-11-05 2030-01-01:2025-11-25
1:2025-11-25'
is "a client gets its version of the protocol, or the one before" \
    "$(for pair in $versions; do
        printf '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s"}}\n' "${pair%%:*}"
    done | "$mmprof" mcp | sed -E 's/.*"protocolVersion":"([^"]*)".*/\1/' | xargs)" \
    "$(for pair in $versions; do echo "${pair##*:}"; done | xargs)"
is "a ping is answered, notifications and answers are not" \
    "$(asked '{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","method":"unknown"}' \
        '{"jsonrpc":"2.0","id":7,"result":{}}' '' '{"jsonrpc":"2.0","id":"a","method":"ping"}')" \
    '{"jsonrpc":"2.0","id":"a","result":{}}'
is "the tools are four" "$(asked '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' |
    python3 -c 'import json, sys; print(*[tool["name"] for tool in json.load(sys.stdin)["result"]["tools"]])')" \
    "ps profile report diff"

deep=$(head -c 60000 /dev/zero | tr '\0' '[') long=$(head -c 70000 /dev/zero | tr '\0' x)
bad=$(cat << END
no JSON|-32700|{"jsonrpc":"2.0",
two values|-32700|{} {}
nesting without end|-32700|$deep
bytes that are no UTF-8|-32700|{"jsonrpc":"2.0","id":1,"method":"$(printf '\377')"}
a message of 70 KB|-32600|{"jsonrpc":"2.0","id":1,"method":"$long"}
a batch|-32600|[{"jsonrpc":"2.0","id":1,"method":"ping"}]
another version|-32600|{"jsonrpc":"1.0","id":1,"method":"ping"}
no method|-32600|{"jsonrpc":"2.0","id":1}
an ID that is null|-32600|{"jsonrpc":"2.0","id":null,"method":"ping"}
an ID that is no integer|-32600|{"jsonrpc":"2.0","id":1.5,"method":"ping"}
parameters by position|-32600|{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}
an unknown method|-32601|{"jsonrpc":"2.0","id":1,"method":"resources/list"}
no version to agree on|-32602|{"jsonrpc":"2.0","id":1,"method":"initialize"}
an unknown tool|-32602|{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"; rm"}}
no tool|-32602|{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}
arguments by position|-32602|{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ps","arguments":[]}}
nothing of this ends the server|ok|{"jsonrpc":"2.0","id":1,"method":"ping"}
END
)
cut -d '|' -f 3- <<< "$bad" | "$mmprof" mcp |
    sed -E 's/.*"code":(-[0-9]+),.*/\1/; s/.*"result":\{\}.*/ok/' > "$SCRATCH/codes"
while IFS='|' read -r claim code answer; do
    is "$claim: $code" "$answer" "$code"
done < <(cut -d '|' -f 1,2 <<< "$bad" | paste -d '|' - "$SCRATCH/codes")

n=0
refused=$(while read -r tool arguments; do
    call $((n += 1)) "$tool" "$arguments"
    echo
done << END
profile {}
profile {"pid":-1}
profile {"pid":0}
profile {"pid":1e99}
profile {"pid":1.5}
profile {"pid":"1; touch $SCRATCH/hostile"}
profile {"pid":1,"seconds":61}
profile {"pid":1,"output":"$SCRATCH/hostile"}
profile {"pid":1,"-o":"$SCRATCH/hostile"}
report {"trace":"/etc/passwd"}
report {"trace":"../t1"}
report {"trace":"t1"}
report {"trace":"t1","view":"; touch $SCRATCH/hostile"}
report {"trace":"t1","view":"misses=line,source=/etc"}
report {"trace":"t1","view":"--html=$SCRATCH/hostile"}
diff {"before":"t1"}
diff {"before":"t1","after":"t2"}
END
)
answers=$(asked "$refused")
n=0
while read -r request; do
    n=$((n + 1))
    matches "refused: ${request#*params}" "$answers" "\"id\":$n,\"result\":.*\"isError\":true"
done <<< "$refused"
is "what was refused made no file" "$(find "$SCRATCH/hostile" "$TMPDIR" -type f 2> "$SCRATCH/none")" ""
matches "a trace that is not there is told at once" "$("$mmprof" mcp /no/such.dat 2>&1 < /dev/null)" "/no/such.dat"

# ---- with a JVM ----

# serve NAME [TRACE...]: a server that is written to by $to, and read from by $from, its PID in $server.
serve() {
    local name=$1
    shift
    mkfifo "$SCRATCH/$name.in" "$SCRATCH/$name.out"
    "$mmprof" mcp "$@" < "$SCRATCH/$name.in" > "$SCRATCH/$name.out" 2> "$SCRATCH/$name.errors" &
    server=$!
    test_pids+=("$server")
    exec {to}> "$SCRATCH/$name.in" {from}< "$SCRATCH/$name.out"
}

# tell FD ID TOOL ARGUMENTS
tell() {
    call "${@:2}" >&"$1"
    echo >&"$1"
}

# told FD: the server's next message there.
told() {
    local line=
    read -r -t $((100 * slow)) line <&"$1"
    printf '%s' "$line"
}

# texts: the result's texts, a line each; its errors begin with 'error: '.
texts() {
    python3 -c '
import json, sys
result = json.load(sys.stdin)["result"]
for content in result["content"]:
    print(("error: " if result["isError"] else "") + content["text"].rstrip("\n"))'
}

start "$SCRATCH/program" "$(first_jdk)/bin/java" -Xmx400m -XX:+EnableDynamicAgentLoading \
    -cp "$classes" target.Faulty exceptions=fault regex=fault
program=$pid
wait_for 20 grep -q '^UP' "$SCRATCH/program" || not_ok "the program starts" "$(cat "$SCRATCH/program")"
wait_for 20 attachable "$program"

serve one
one=$server to_one=$to from_one=$from
tell "$to_one" 1 ps '{}'
matches "ps lists the JVM" "$(told "$from_one" | texts)" "^ *$program .*target.Faulty"
tell "$to_one" 2 profile "{\"pid\":$$}"
matches "a process that is no JVM is refused" "$(told "$from_one" | texts)" "^error: .*$$"
tell "$to_one" 3 profile "{\"pid\":$program,\"seconds\":10}"
tell "$to_one" 4 profile "{\"pid\":$program,\"seconds\":1}"
matches "meanwhile there is no second recording" "$(told "$from_one")" \
    '"id":4,.*a recording runs already.*"isError":true'
told "$from_one" > "$SCRATCH/answer"
[ "$(wc -c < "$SCRATCH/answer")" -le 16384 ] && ok "an answer has 16 KB at most" ||
    not_ok "an answer has 16 KB at most" "$(wc -c < "$SCRATCH/answer")"
texts < "$SCRATCH/answer" > "$SCRATCH/texts"
is "a recording has a handle" "$(head -n 1 "$SCRATCH/texts")" "trace: r1"
sed 1d "$SCRATCH/texts" > "$SCRATCH/agents.json"

# of_agents EXPRESSION: of the JSON, as d.
of_agents() {
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); $1" "$SCRATCH/agents.json"
}
found=$(of_agents 'print(*[(f["rule"], f["subject"], f["share_low"] <= f["share"] <= f["share_high"])
    for f in d["findings"]], sep="\n")')
matches "the JSON names the regular expression" "$found" "'library', 'Faulty.Validator.isSentence', True"
matches "and the exceptions" "$found" "'exceptions', 'Faulty.Parser.number', True"
matches "with how complete the recording is" "$(of_agents 'print(d["recording"]["complete"])')" '^complete .* cost '
if python3 -c 'import jsonschema' 2> "$SCRATCH/none"; then
    holds "it is as report/agents.schema.json says" python3 -c '
import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' \
        "$root/report/agents.schema.json" "$SCRATCH/agents.json"
else
    skip "it is as report/agents.schema.json says" "python3-jsonschema is not installed"
    is "its members are those that the schema requires" "$(of_agents 'print(*sorted(d))')" "$(python3 -c '
import json, sys; print(*sorted(json.load(open(sys.argv[1]))["required"]))' "$root/report/agents.schema.json")"
fi
of_agents 'print(*[f["next"] for f in d["findings"] + d["conditions"]], sep="\n")' > "$SCRATCH/next"
while read -r next; do
    holds "'$next' works" env PATH="$build:$PATH" sh -c "$next"
done < "$SCRATCH/next"

cp "$TMPDIR"/mmprof-mcp-*/r1.dat "$SCRATCH/faulty.dat"
tell "$to_one" 5 report '{"trace":"r1","view":"callers=Throwable.<init>","rows":5}'
matches "a view of a finding" "$(told "$from_one" | texts)" 'Faulty\$Parser.number'
tell "$to_one" 6 report "{\"trace\":\"r1\",\"view\":\"callers=x' --html $SCRATCH/hostile; touch $SCRATCH/hostile\"}"
matches "a hostile method is a method" "$(told "$from_one" | texts)" "^error: .*no method 'x' --html"
is "it made no file" "$(ls "$SCRATCH/hostile" 2> "$SCRATCH/none")" ""

if [ -d "${MMPROF_NODE_MODULES-}/@modelcontextprotocol/sdk" ]; then
    is "the protocol's own client is served" \
        "$(node "$root/test/tools/mcp_client.mjs" "$MMPROF_NODE_MODULES" "$mmprof" "$SCRATCH/faulty.dat" 2>&1)" \
        "mmprof ps profile report diff
report mmprof.agents
ps result profile error
rm refused -32602"
else
    skip "the protocol's own client is served" "MMPROF_NODE_MODULES names no directory with @modelcontextprotocol/sdk"
fi

serve two "$SCRATCH/faulty.dat"
two=$server to_two=$to from_two=$from
tell "$to_two" 1 diff '{"before":"t1","after":"t1"}'
matches "a second client compares a trace that the command line names" \
    "$(told "$from_two" | texts)" '^whole process .* \+0\.0 '
tell "$to_two" 2 profile "{\"pid\":$program,\"seconds\":60}"
second=
wait_for 30 eval 'second=$(find "$TMPDIR" -name r1.dat -size +0 -newer "$SCRATCH/faulty.dat" | grep .)'
tell "$to_one" 7 profile "{\"pid\":$program,\"seconds\":1}"
matches "two clients do not record one JVM at a time" "$(told "$from_one" | texts)" "^error: .*(already|another)"
exec {to_two}>&-
wait_gone 30 "$two" && ok "a server whose input is closed amid a recording ends" || not_ok "it ends" "$two runs"
is "without a result" "$(told "$from_two")" ""
[ ! -e "$second" ] && ok "and leaves no file" || not_ok "and leaves no file" "$second"
call 8 profile "{\"pid\":$program,\"seconds\":2},\"_meta\":{\"progressToken\":\"p\"}" >&"$to_one"
echo >&"$to_one"
answer=$(told "$from_one") progress=
while [[ $answer == *notifications/progress* ]]; do
    progress+=$answer$'\n'
    answer=$(told "$from_one")
done
matches "the JVM goes on, and can be recorded again" "$(texts <<< "$answer" | head -n 1)" '^trace: r2$'
is "a client that gives a token is told each second how far the recording is" "$(python3 -c '
import json, sys
told = [json.loads(line)["params"] for line in sys.stdin if line.strip()]
done = [params["progress"] for params in told]
print({params["progressToken"] for params in told}, told[0]["total"], told[0]["message"], len(told) >= 2,
      done == sorted(set(done)))' <<< "$progress" 2>&1)" "{'p'} 2 recording True True"

tell "$to_one" 9 profile "{\"pid\":$program,\"seconds\":60}"
wait_for 30 test -s "$(dirname "$(find "$TMPDIR" -name r2.dat)")/r3.dat"
echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}' >&"$to_one"
echo '{"jsonrpc":"2.0","id":10,"method":"ping"}' >&"$to_one"
is "a recording that is cancelled has no result" "$(told "$from_one")" '{"jsonrpc":"2.0","id":10,"result":{}}'
kill -TERM "$one"
wait_gone 30 "$one" && ok "a signal ends a server" || not_ok "a signal ends a server" "$one runs"
is "all servers left no file" "$(ls "$TMPDIR")" ""
is "and no process" "$(pgrep -f -- "-o $TMPDIR/mmprof-mcp-")" ""
is "and said nothing else" "$(cat "$SCRATCH"/{one,two}.errors)" ""
is_gone "$program" && not_ok "the JVM goes on" "$(cat "$SCRATCH/program")" || ok "the JVM goes on"
done_testing
