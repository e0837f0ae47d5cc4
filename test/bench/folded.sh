# Folded stacks beside others, to be sourced.
# shellcheck shell=bash

# agree N WHAT A B: how far two files of folded stacks agree; WHAT is 'methods', or 'contexts': all on the path to one.
#
# Prints the samples of each; of those that are among the first N of either by time with callees, the weighted overlap
# of their shares, in per cent; how many are among the first N of both; and the overlap of own times.
agree() {
    awk -v top="$1" -v what="$2" '
        function number_of(path, frame) {
            if (!((path, frame) in numbers)) numbers[path, frame] = ++n_numbers
            return numbers[path, frame]
        }
        function shares(file, total, own,    line, n, i, k, frames, count, all, seen, path) {
            while ((getline line < file) > 0) {
                count = line; sub(/.* /, "", count); sub(/ [0-9]+$/, "", line)
                k = split(line, frames, ";")
                split("", seen)
                path = ""
                for (i = 1; i <= k; i++) {
                    if (index(frames[i], "$$Lambda")) # numbers and addresses differ
                        sub(/\$\$Lambda.*\./, "$$Lambda.", frames[i])
                    path = what == "contexts" ? number_of(path, frames[i]) : frames[i]
                    if (!(path in seen)) { seen[path]; total[path] += count }
                }
                own[what == "contexts" ? path : frames[k]] += count
                all += count
            }
            close(file)
            return all
        }
        function take_top(total,    copy, i, m, best) {
            for (m in total) copy[m] = total[m]
            for (i = 0; i < top; i++) {
                best = ""
                for (m in copy) if (best == "" || copy[m] > copy[best]) best = m
                if (best == "") return
                rank[best]++
                delete copy[best]
            }
        }
        function less(a, b) { return a < b ? a : b }
        BEGIN {
            x = shares(ARGV[1], a, own_a); y = shares(ARGV[2], b, own_b)
            take_top(a); take_top(b)
            for (m in rank) { in_both += rank[m] == 2; sum_a += a[m]; sum_b += b[m] }
            for (m in rank) if (sum_a > 0 && sum_b > 0) of_top += less(a[m] / sum_a, b[m] / sum_b)
            for (m in own_a) if (x > 0 && y > 0) own += less(own_a[m] / x, own_b[m] / y)
            printf "%d %d %.1f %d %.1f\n", x, y, of_top * 100, in_both, own * 100
        }' "$3" "$4"
}
