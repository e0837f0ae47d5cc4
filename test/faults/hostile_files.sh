#!/bin/bash
# Files that a JVM's user puts where mmprof looks for the JVM's own: FIFOs, links to what only root may read or to what
# is outside of the JVM's root directory; and files that were replaced since, as a JDK by an update.
# timeout: 120
# beside: yes
. "$(dirname "$0")/faults.bash"

# Who is nobody special, if we may choose.
nobody=()
[ "$(id -u)" != 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# Root who does not get a mapped file from the kernel, and opens it by its path as others do.
by_path() {
    [ "$(id -u)" = 0 ] && set -- setpriv --bounding-set=-sys_admin,-checkpoint_restore "$@"
    timeout 30 "$@"
}

jdk=$(jdks | tail -n 1)

# ---- what has a libjvm.so mapped ----

fake=$(mktemp -d /tmp/mmprof-fake-XXXXXX) # where nobody gets at it
chmod 755 "$fake"
mkdir -p "$fake/lib/server"
mkdir -m 700 "$fake/secret"
cp "$jdk/lib/libjsig.so" "$fake/lib/server/libjvm.so"
echo 'JAVA_VERSION="99.9"' > "$fake/secret/release"
mkfifo "$fake/release"
start "$SCRATCH/fake.out" "${nobody[@]}" env LD_PRELOAD="$fake/lib/server/libjvm.so" sleep 300
maps_it() {
    grep -q libjvm.so "/proc/$1/maps"
}
wait_for 20 maps_it "$pid"
timeout 30 "$mmprof" ps > "$SCRATCH/ps" 2>&1
is "a FIFO as a JDK's 'release' does not stop 'ps', which lists the process" \
    "$? $(grep -cE "^ *$pid " "$SCRATCH/ps")" "0 1"
timeout 30 "$mmprof" record -q -d 0.1 -o "$SCRATCH/f.dat" no.such.Main > "$SCRATCH/said" 2>&1
is "nor the search for a JVM by its name" "$?" 1
"$mmprof" sample -d 0.1 -p "$pid" > "$SCRATCH/said" 2>&1
matches "who says only that he is a JVM is not sampled" "$? $(cat "$SCRATCH/said")" "^1 .* had not started"
rm "$fake/release"
ln -s "secret/release" "$fake/release"
if [ "$(id -u)" = 0 ]; then
    is "what the JVM's user may not read is not read by root for him" "$("$mmprof" ps | grep -c '99\.9')" 0
else
    skip "what the JVM's user may not read is not read by root for him" "it takes root"
fi
chmod 755 "$fake/secret"
matches "a link to what he may read is followed" "$("$mmprof" ps)" '99\.9'
stop "$pid"
rm -r "$fake"

# ---- a JDK that is replaced while a JVM of it runs ----

# A copy: links, but for what the JVM finds itself by.
copy_jdk() {
    mkdir "$SCRATCH/jdk"
    cp -rs "$jdk"/. "$SCRATCH/jdk"
    cp --remove-destination "$jdk/bin/java" "$SCRATCH/jdk/bin/java"
    cp --remove-destination "$jdk/lib/server/libjvm.so" "$SCRATCH/jdk/lib/server/libjvm.so"
}

# sampled CLAIM: stacks of the JVM, from outside.  Again where it got no CPU.
sampled() {
    local n
    for ((n = 0; n < 5; n++)); do
        timeout 30 "$mmprof" sample -d 0.3 -p "$jvm" > "$SCRATCH/said" 2>&1
        grep -q Busy "$SCRATCH/said" && ok "$1" && return
    done
    not_ok "$1" "$(cat "$SCRATCH/said")"
}

why='deleted or replaced \(JDK updated\?\)'
copy_jdk
start_busy "$SCRATCH/jdk"
jvm=$pid
matches "a mapped file is opened by its path" "$(by_path "$mmprof" doctor "$jvm")" '^ok +stacks'
rm -r "$SCRATCH/jdk/lib"
matches "'doctor' says that the JDK was replaced, and knows its version" "$("$mmprof" doctor "$jvm")" \
    "^ok +java .* $(jdk_version "$jdk").*deleted or replaced"
matches "so does 'sample' where the file cannot be had" "$(by_path "$mmprof" sample -d 0.1 -p "$jvm" 2>&1)" "$why"
matches "and 'doctor'" "$(by_path "$mmprof" doctor "$jvm")" "^limit +stacks .*$why"
if [ "$(id -u)" = 0 ]; then
    sampled "root samples it all the same"
else
    skip "root samples it all the same" "it takes root"
fi
goes_on "the JVM goes on"
stop "$jvm"
rm -r "$SCRATCH/jdk"

# ---- a link in place of its libjvm.so, in file systems of its own ----

if [ "$(id -u)" = 0 ] && unshare -m true 2> "$SCRATCH/ignored"; then
    copy_jdk
    mkfifo "$SCRATCH/fifo"
    start "$SCRATCH/boxed.out" unshare -m "$SCRATCH/jdk/bin/java" -Xmx64m -cp "$classes" target.Busy "$SCRATCH/never"
    jvm=$pid busy_out=$SCRATCH/boxed.out
    wait_for 30 grep -q '^ROUND' "$busy_out"
    server=$SCRATCH/jdk/lib/server
    nsenter -t "$jvm" -m sh -c "mount -t tmpfs none '$server' && ln -s '$SCRATCH/fifo' '$server/libjvm.so'"
    sampled "a link in place of a file that is mapped is not followed"
    matches "nor by who cannot get the file" "$(by_path "$mmprof" sample -d 0.1 -p "$jvm" 2>&1)" 'no regular file'
    matches "nor by 'doctor'" "$(by_path "$mmprof" doctor "$jvm")" '^limit +stacks .*no regular file'
    nsenter -t "$jvm" -m cp --remove-destination /bin/true "$server/libjvm.so"
    matches "another file in its place is not taken for it" "$(by_path "$mmprof" sample -d 0.1 -p "$jvm" 2>&1)" "$why"
    goes_on "and the JVM goes on"
    stop "$jvm"
else
    skip "a link in place of a file that is mapped is not followed" "it takes root and mount namespaces"
fi

done_testing
