#!/bin/bash
# mmprof report --html: one file, whole and small; in a browser it draws, sorts, and asks nobody for anything.
# timeout: 300
# beside: yes
. "$(dirname "$0")/../lib.sh"
needs_command report
command -v python3 > "$SCRATCH/which" || skip_all "python3 is not installed; 'make deps' installs it"

jdk=$(first_jdk)
trace=$SCRATCH/trace.dat
page=$SCRATCH/report.html
"$mmprof" record -q --include 'micro/*' --min-bytecodes 0 -o "$trace" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 300 1 > "$SCRATCH/out" 2>&1
is "a program is recorded" $? 0

is "the page is written, and nothing is printed" "$("$mmprof" report --html "$page" "$trace" 2>&1)" ""
is "the same page goes to the standard output" "$("$mmprof" report --html - "$trace" | cksum)" "$(cksum < "$page")"
is "it begins and ends as HTML does" "$(sed -n '1p;$p' "$page" | xargs)" "<!DOCTYPE html> </html>"
is "it loads nothing" "$(grep -ciE '<(script|img|link|iframe)[^>]+(src|href)=|@import|url\(' "$page")" 0
[ "$(wc -c < "$page")" -lt 1000000 ] && ok "it is small" || not_ok "it is small" "$(wc -c < "$page") bytes"

# What the page has of a phase is what the table of CSV says.
in_page() {
    python3 - "$page" "$1" << 'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
keys = [column["key"] for column in data["phases"]["columns"]]
for row in data["phases"]["rows"]:
    if row["cells"][keys.index("method")] == "sortData":
        print(row["cells"][keys.index(sys.argv[2])][1])
END
}
in_csv() {
    "$mmprof" report --csv "$trace" | tr -d '\r' | awk -F , -v key="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["method"] == "sortData" { print $at[key] }'
}
is "calls are those of the CSV" "$(in_page calls)" "$(in_csv calls)"
here=$(in_page time_share)
there=$(in_csv time_share)
if awk -v a="$here" -v b="$there" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 < (b * 1e-5) ^ 2) }'; then
    ok "time is, to six digits"
else
    not_ok "time is, to six digits" "is: $here" "expected: $there"
fi

# Its first words are the findings of the text.
found=$("$mmprof" report "$trace" | sed -nE 's/^\* (.*) \(--view .*/\1/p')
is "it has the findings" "$(python3 - "$page" << 'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
print("\n".join(text for text, view in data["findings"]))
END
)" "$found"
matches "which name the program's method" "$found" 'Thesis\.'

refused() {
    "$mmprof" report "${@:3}" > "$SCRATCH/out" 2> "$SCRATCH/said"
    is "$1: status 1" $? 1
    matches "$1: says what to do" "$(cat "$SCRATCH/said")" "$2"
}
refused "two formats" "next: run 'mmprof report' once for each" --html "$SCRATCH/none.html" --csv "$trace"
refused "a place that cannot be written" 'next: choose another path' --html "$SCRATCH/none/x.html" "$trace"
refused "a page of too many steps" 'next: choose longer steps' \
    --html "$SCRATCH/none.html" --view timeline=0.1ms "$trace"
refused "no trace" 'nothing-here.dat' --html "$SCRATCH/none.html" "$SCRATCH/nothing-here.dat"
[ ! -e "$SCRATCH/none.html" ] && ok "no half page is there" || not_ok "no half page is there"

# ---- in a browser ----

browser() {
    python3 "$root/test/tools/browser.py" "$@" 2>&1
}
browser "$page" > "$SCRATCH/said"
if [ $? = 2 ]; then
    skip "the page works in a browser" "there is no Chromium; Debian's package is 'chromium'"
    done_testing
fi
is "the page has no error, and asks nobody for anything" "$(cat "$SCRATCH/said")" ""
# Other kinds of traces: with counters, without some of them, and nothing at all.
SCRATCH=$SCRATCH "$build/test/unit/html_test" > "$SCRATCH/out"
for kind in counted partly html; do
    "$mmprof" report --html "$SCRATCH/$kind.html" "$SCRATCH/$kind.dat"
    is "a page of $kind.dat has no error" "$(browser "$SCRATCH/$kind.html")" ""
done
echo 'return [...document.querySelectorAll("#timeline .line")].length > 0' > "$SCRATCH/line.js"
is "CPI over time is drawn where it was measured" "$(browser "$SCRATCH/counted.html" "$SCRATCH/line.js")" true
# On the wall clock: threads that wait, too.
SCRATCH=$SCRATCH "$build/test/unit/sampled_wall_test" > "$SCRATCH/out"
"$mmprof" report --clock wall --html "$SCRATCH/wall.html" "$SCRATCH/wall.dat"
widths="Wall time; CPU time; Waiting; Waiting for locks"
cat > "$SCRATCH/wall.js" << 'END'
const press = (key, shiftKey) => document.getElementById("line-chart").dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
const all = (selector) => [...document.querySelectorAll(selector)];
const rowOf = (label) => all("#phase-table tr").find((tr) => tr.cells[0]?.textContent.endsWith(label));
const timeOf = (label) => rowOf(label).cells[1].textContent.replace(/\s.*/, "");
const widths = () => all("#flame-widths option").map((option) => option.textContent).join("; ");
const label = all("#line-chart text").find((text) => /^(threads|CPUs)/.test(text.textContent));
const lines = [label.textContent, timeOf("Orders.query"), widths()];
press("End", false);
for (let i = 0; i < 7; i++) press("PageUp", true); /* the last 0.35 s */
return lines.concat(timeOf("Orders.query"), timeOf("Prices.quote"), widths());
END
is "on the wall clock the time line has threads that wait, and all follow a span of it" \
    "$(browser "$SCRATCH/wall.html" "$SCRATCH/wall.js" | xargs)" \
    "threads that run or wait 41.18 $widths 0.00 100.00 $widths"

cat > "$SCRATCH/vague.js" << 'END'
const number = (node) => Number.parseFloat(node.textContent.replace(/[\s\u00b1]/g, ""));
const cells = [...document.querySelectorAll("#phase-rows .interval")].map((interval) =>
    [interval.previousSibling.className === "vague", number(interval) > number(interval.previousSibling) / 3]);
return [cells.some((cell) => cell[0]), cells.some((cell) => !cell[0]), cells.every((cell) => cell[0] === cell[1])];
END
is "a share that is less certain than a third of itself is grey, others are not" \
    "$(browser "$SCRATCH/wall.html" "$SCRATCH/vague.js" | xargs)" "true true true"

while read -r line; do
    case $line in
        'ok '*) ok "${line#ok }" ;;
        *) not_ok "${line#not ok }" ;;
    esac
done < <(browser "$page" "$root/test/tools/html_checks.js")
[ $tap_n -gt 40 ] && ok "all of it was tried" || not_ok "all of it was tried" "$tap_n claims"

# As if samples alone knew all methods: no calls, and why they have no probes.
python3 - "$page" > "$SCRATCH/sampled.html" << 'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
found = re.search(r'(<script type="application/json" id="data">)(.*?)(</script>)', text, re.S)
data = json.loads(found[2])
table = data["phases"]
unknown = [i for i, column in enumerate(table["columns"]) if column["key"] in ("calls", "ns_per_call")]
table["columns"].append({"heading": "No probes because", "key": "reason", "unit": "text", "hidden": False})
for row in table["rows"]:
    row["cells"] = ["-" if i in unknown else cell for i, cell in enumerate(row["cells"])] + ["not selected"]
print(text[:found.start(2)] + json.dumps(data).replace("<", "\\u003c") + text[found.end(2):])
END
cat > "$SCRATCH/width.js" << 'END'
return [String(document.documentElement.scrollWidth <= innerWidth),
    document.querySelector("#phase-heads th").textContent]
END
is "it fits a narrow window, and begins with names, where no calls are known, too" \
    "$(browser --width 390 "$SCRATCH/sampled.html" "$SCRATCH/width.js" | xargs)" "true Phase"

# What differs between two traces: of the same program here, so nothing is shown.
"$mmprof" diff --html "$SCRATCH/diff.html" "$trace" "$trace"
echo 'const all = [...document.querySelectorAll("#flame .is-compared")];
const frames = all.filter((g) => /Before: .*\n.*After: /.test(g.textContent));
return [frames.length > 5, frames.every((g) => g.querySelector("rect").style.fill === "var(--frame-group)"),
    document.querySelectorAll("tbody tr").length > 5].join()' > "$SCRATCH/diff.js"
is "a comparison is a page, too: grey where no change is shown" "$(browser "$SCRATCH/diff.html" "$SCRATCH/diff.js")" \
    true,true,true
echo 'const style = getComputedStyle(document.documentElement); return style.backgroundColor' > "$SCRATCH/paper.js"
# What to change, of a program that has nothing to change or something.
"$mmprof" advise --html "$SCRATCH/advice.html" "$trace"
echo 'return document.querySelector("#hints h2").textContent' > "$SCRATCH/hints.js"
is "advice is a page, too" "$(browser "$SCRATCH/advice.html" "$SCRATCH/hints.js")" "What to change"
light=$(browser "$page" "$SCRATCH/paper.js")
dark=$(browser --dark "$page" "$SCRATCH/paper.js")
if [ "$light" != "$dark" ]; then
    ok "it is dark where the user wants it"
else
    not_ok "it is dark where the user wants it" "$light"
fi
is "it can be printed" "$(browser --print "$SCRATCH/page.pdf" "$page")$(head -c 4 "$SCRATCH/page.pdf")" %PDF

# A page that is broken is found.
sed 's/^const data = .*/&\nundefinedFunction();/' "$page" > "$SCRATCH/broken.html"
matches "an error of a page is found" "$(browser "$SCRATCH/broken.html")" '^console: .*undefinedFunction'
sed "s/default-src 'none'; /img-src *; /; s/<body>/&<img src='http:\/\/127.0.0.1:9\/x.png'>/" "$page" \
    > "$SCRATCH/asks.html"
matches "a page that asks for something is found" "$(browser "$SCRATCH/asks.html")" '^network: http://127'

done_testing
