#!/bin/bash
# JVMs in containers, made with unshare: other mounts, process ids and users; a /tmp of their own, read-only root
# directories, places from which nothing can be loaded.  The agent's library reaches them and is removed afterwards.
# timeout: 600
. "$(dirname "$0")/faults.bash"

[ "$(id -u)" = 0 ] || skip_all "it takes root to make containers"
unshare -m -p -f --kill-child sh -c 'mount -t tmpfs none /mnt && mount -t proc none /proc' > "$SCRATCH/said" 2>&1 ||
    skip_all "containers cannot be made here: $(head -n 1 "$SCRATCH/said")"

# The box is what a container has as its /tmp; boxed_options are for its file system.
mkdir "$SCRATCH/box" "$SCRATCH/root"
cat > "$SCRATCH/enter" << 'END'
# HOW BOX ROOT MMPROF COMMAND...: becomes the command, in its container, which has not what is in MMPROF.
how=$1 box=$2 root=$3 built=$4
shift 4
hide() { # DIRECTORY
    [ ! -d "$1" ] || mount -t tmpfs -o ro,noexec none "$1"
}
fill() { # OPTIONS: a new file system with what is in the box
    mount -t tmpfs -o "$1" none /mnt && cp -r "$box"/. /mnt && chmod 1777 /mnt
}
case $how in
    own-tmp) # as systemd's PrivateTmp: the root directory is ours
        fill mode=1777 && mount --move /mnt /tmp && mount -t proc none /proc && hide "$built" || exit 1
        ;;
    own-root | noexec-tmp | nowhere)
        [ $how = own-root ] && options=mode=1777 || options=mode=1777,noexec
        mount --rbind / "$root" && mount -o remount,bind,ro "$root" && mount -t proc none "$root/proc" || exit 1
        fill $options && mount -n --move /mnt "$root/tmp" && hide "$root$built" || exit 1
        for place in var/tmp dev/shm run; do
            [ -d "$root/$place" ] && [ ! -L "$root/$place" ] || continue
            mount -t tmpfs -o ro,noexec none "$root/$place" || exit 1
        done
        [ $how != noexec-tmp ] || mount -t tmpfs -o mode=1777 none "$root/dev/shm" || exit 1
        cd "$root" && pivot_root . . && umount -l . && cd / || exit 1
        ;;
    chroot) # JDK first: a root directory of its own, whose paths /proc/PID/maps has with /mnt in front
        mount -t tmpfs none /mnt && mkdir -m 1777 /mnt/tmp && cp -r "$box"/. /mnt/tmp && mkdir /mnt/proc || exit 1
        for place in /usr /lib /lib64 /bin /etc /dev "${1%/bin/java}"; do
            if [ -L "$place" ] && [ ! -e "/mnt$place" ]; then
                cp -P "$place" "/mnt$place" || exit 1
            elif [ -d "$place" ] && [ ! -d "/mnt$place" ]; then
                mkdir -p "/mnt$place" && mount --bind "$place" "/mnt$place" || exit 1
            fi
        done
        mount -t proc none /mnt/proc && exec chroot /mnt "$@"
        exit 1
        ;;
esac
exec "$@"
END
cp -r "$classes" "$SCRATCH/box/classes"
chmod -R a+rX "$SCRATCH"

# in_container HOW [UNSHARE OPTION...] -- COMMAND...: in the background, its output in $out.
in_container() {
    local how=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    out=$SCRATCH/container.out
    rm -f "$out"
    start "$out" unshare "${options[@]}" -m -p -f --kill-child bash "$SCRATCH/enter" "$how" "$SCRATCH/box" \
        "$SCRATCH/root" "$(dirname "$agent")" "$@"
    container=$pid
}

# rootless USER COMMAND...: the same as rootless podman has it: user 65534's, who is root in it, with more users; the
# command is run by one of them.
rootless() {
    local user=$1
    shift
    out=$SCRATCH/container.out
    rm -f "$out"
    start "$out" setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user bash -c \
        'until grep -q 65536 /proc/self/gid_map; do sleep 0.02; done; exec "$@"' - \
        setpriv --reuid=0 --regid=0 --clear-groups unshare -m -p -f --kill-child bash "$SCRATCH/enter" own-root \
        "$SCRATCH/box" "$SCRATCH/root" "$(dirname "$agent")" \
        setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
    container=$pid
    wait_for 20 has_users "$container" || return 1
    # One write(2) each.
    cat <<< $'0 65534 1\n1 200000 65536' > "/proc/$container/uid_map" &&
        cat <<< $'0 65534 1\n1 200000 65536' > "/proc/$container/gid_map"
}

has_users() {
    [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]
}

# The JVM is the container's first process.
jvm_of() {
    jvm=$(pgrep -P "$container" | head -n 1)
    [ -n "$jvm" ] && grep -q '^ROUND' "$out" 2> "$SCRATCH/ignored"
}

# busy_in HOW [UNSHARE OPTION...]: target.Busy, its PID here in $jvm.  HOW rootless: a user of the namespace follows.
busy_in() {
    local busy=("$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading -cp /tmp/classes target.Busy /tmp/stop)
    if [ "$1" = rootless ]; then
        rootless "$2" "${busy[@]}" || {
            skip "$v: as rootless podman" "user namespaces are not allowed here"
            return 1
        }
    else
        in_container "$@" -- "${busy[@]}"
    fi
    busy_out=$out
    wait_for 30 jvm_of || { not_ok "$v: a container is made: $1" "$(cat "$out")"; return 1; }
}

# What the container's /tmp has besides HotSpot's own files and the box.
left_in() {
    find "/proc/$jvm/root/tmp" "/proc/$jvm/root/dev/shm" -mindepth 1 -maxdepth 1 \
        ! -name 'hsperfdata_*' ! -name '.java_pid*' ! -name classes ! -name mmprof ! -name libmmprof-agent.so \
        -printf '%f ' 2> "$SCRATCH/ignored"
}

record() {
    "$mmprof" record -q -d 0.3 --include 'target/*' --min-bytecodes 0 -o "$SCRATCH/c.dat" -p "$jvm" 2>&1
}

# recorded CLAIM: from outside, twice, and nothing is left.  Again where the JVM got no CPU.
recorded() {
    local said n
    said=$(record; record)
    is "$1: it is recorded from outside, twice" "$said" ""
    for ((n = 0; n < 5 && $(trace_field "$SCRATCH/c.dat" RECORDS) <= 100; n++)); do
        record > "$SCRATCH/said"
    done
    [ "$(trace_field "$SCRATCH/c.dat" RECORDS)" -gt 100 ] && ok "$1: there are records" ||
        not_ok "$1: there are records" "$(trace_counts "$SCRATCH/c.dat")"
    is "$1: nothing is left there" "$(left_in)" ""
    goes_on "$1: the JVM goes on"
}

# sampled CLAIM [COMMAND...]: from outside, and from where the command runs mmprof: there the maps' paths are our own.
sampled() {
    local claim=$1 n
    shift
    for ((n = 0; n < 5; n++)); do
        "$mmprof" sample -d 0.3 -p "$jvm" > "$SCRATCH/here" 2>&1
        "$@" "$mmprof" sample -d 0.3 -p "$jvm" > "$SCRATCH/there" 2>&1
        grep -q 'Busy' "$SCRATCH/here" && grep -q 'Busy' "$SCRATCH/there" && ok "$claim: stacks are sampled" && return
    done
    not_ok "$claim: stacks are sampled" "$(cat "$SCRATCH/here" "$SCRATCH/there")"
}

# The samples of a recording by an agent in it, and those of them that are of no known thread: "12 0".  Again where the
# JVM got no CPU.
samples_by_polling() {
    local n
    for ((n = 0; n < 5; n++)); do
        "$mmprof" record --live --mechanism polling -q -d 1 -o "$SCRATCH/c.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
        "$mmprof" dump "$SCRATCH/c.dat" | awk '$1 == "sample" && $2 != "method" { n++; known += $2 == "thread" }
            END { print n + 0, n - known }' > "$SCRATCH/samples"
        grep -q '^0' "$SCRATCH/samples" || break
    done
    cat "$SCRATCH/samples"
}

ends() {
    kill -KILL "$container"
    wait "$container" 2> "$SCRATCH/ignored"
}

newest=$(jdks | tail -n 1)
remember_files
while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    if busy_in own-tmp; then
        recorded "$v, its own /tmp"
        [ "$jdk" != "$newest" ] ||
            matches "$v, its own /tmp: an agent samples stacks in it, of threads that mmprof sees by other ids" \
                "$(samples_by_polling)" '^[1-9][0-9]* 0$'
        ends
    fi
    if busy_in own-root; then
        recorded "$v, a read-only root directory"
        ends
    fi
    if busy_in own-root --user --map-root-user; then
        recorded "$v, users of its own, too"
        ends
    else
        skip "$v: users of its own" "user namespaces are not allowed here"
    fi
    for user in $(either 0 "0 1000"); do
        if busy_in rootless "$user"; then
            recorded "$v, as rootless podman, user $user in it"
            ends
        fi
    done
    if busy_in noexec-tmp; then
        recorded "$v, nothing can be loaded from its /tmp"
        ends
    fi
    if busy_in chroot; then
        recorded "$v, in a chroot"
        sampled "$v, in a chroot" nsenter -t "$jvm" -m
        is "$v, in a chroot: 'doctor' finds its files" \
            "$("$mmprof" doctor "$jvm" | grep -cE '^ok +(java +HotSpot|stacks .*layout is known)')" 2
        ends
    fi
    if busy_in nowhere; then
        matches "$v, nothing can be loaded from anywhere: that is said" "$(record)" \
            "'/tmp' of the JVM is mounted noexec"
        is "$v: and nothing is left" "$(left_in)" ""
        goes_on "$v: and the JVM goes on"
        ends
    fi
done < <(fault_jdks)

# Inside, by a user who is nobody special.
cp "$mmprof" "$agent" "$SCRATCH/box"
cat > "$SCRATCH/box/inside" << 'END'
cd /tmp
"$1" -Xmx64m -XX:+EnableDynamicAgentLoading -cp /tmp/classes target.Busy /tmp/stop > /tmp/busy &
for _ in $(seq 600); do grep -q '^ROUND' /tmp/busy && break; sleep 0.05; done
/tmp/mmprof record -q -d 0.3 --include 'target/*' --min-bytecodes 0 -o /tmp/t.dat -p $! && echo RECORDED
touch /tmp/stop; wait; tail -n 1 /tmp/busy
END
chmod -R a+rX "$SCRATCH/box"
in_container own-tmp -- setpriv --reuid=65534 --regid=65534 --clear-groups bash /tmp/inside "$newest/bin/java"
wait_gone 60 "$container"
is "from inside, without privileges: it is recorded" "$(grep -v '^END' "$out")" RECORDED
matches "and the results are right" "$(tail -n 1 "$out")" '^END [0-9]+ rounds ok$'

# What has musl's dynamic linker mapped, and a libjvm.so.
if command -v python3 > "$SCRATCH/which"; then
    cp /bin/true "$SCRATCH/libjvm.so"
    cp /bin/true "$SCRATCH/ld-musl-x86_64.so.1"
    start "$SCRATCH/musl" python3 -c "
import mmap, sys, time
files = [open(name, 'rb') for name in sys.argv[1:]]
maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in files]
print('READY', flush=True)
time.sleep(300)" "$SCRATCH/libjvm.so" "$SCRATCH/ld-musl-x86_64.so.1"
    jvm=$pid
    wait_for 20 grep -q READY "$SCRATCH/musl"
    matches "a JVM on musl is refused, and why" "$(cat "$SCRATCH/musl"; record)" \
        "runs on musl libc, and mmprof.s agent needs glibc"
    stop "$jvm"
else
    skip "a JVM on musl is refused, and why" "there is no python3 to pretend one"
fi
leaves_no_file "no file is left in our own /tmp"

done_testing
