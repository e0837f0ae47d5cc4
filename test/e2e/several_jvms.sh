#!/bin/bash
# One process reads several JVMs of different releases at once, in turns: each by its own layout.
# timeout: 120
# beside: yes
. "$(dirname "$0")/../lib.sh"

# begin JDK CLASS: a program with a compiled method "spin_CLASS".
begin() {
    cat > "$SCRATCH/$2.java" << END
public class $2 {
    static volatile long sink;
    static long spin_$2(long n) { return (n << 5) % 7 + n; }
    public static void main(String[] unused) throws Exception {
        for (long n = 0; n < 300000; n++) sink += spin_$2(n);
        System.out.println("ready");
        Thread.sleep(100000);
    }
}
END
    "$1/bin/javac" -d "$SCRATCH" "$SCRATCH/$2.java"
    start "$SCRATCH/$2.out" "$1/bin/java" -Xmx64m -XX:-BackgroundCompilation -cp "$SCRATCH" "$2"
    wait_for 30 grep -q ready "$SCRATCH/$2.out"
}

n=0 pids=() expected=()
for jdk in $(jdks) $(jdks | head -n 1); do
    n=$((n + 1))
    begin "$jdk" "Program$n"
    pids+=("$pid")
    expected+=("$(jdk_version "$jdk") Program$n.spin_Program$n")
done

"$build/test/tools/read_jvms" "${pids[@]}" > "$SCRATCH/read" 2> "$SCRATCH/said"
is "all are read" "$? $(cat "$SCRATCH/said")" "0 "
is "each one's methods, by the layout of its release" "$(grep spin_ "$SCRATCH/read" | sort -u)" \
    "$(printf '%s\n' "${expected[@]}" | sort)"
"$build/test/tools/read_jvms" "${pids[0]}" $$ > "$SCRATCH/read" 2> "$SCRATCH/said"
matches "one that is no JVM is refused beside one that is" "$? $(cat "$SCRATCH/said")" '^1 .*no libjvm.so'
for pid in "${pids[@]}"; do
    stop "$pid"
done
done_testing
