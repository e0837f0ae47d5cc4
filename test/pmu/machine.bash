# A machine with a PMU, for the tests in this directory, to be sourced:  . "$(dirname "$0")/machine.bash"
#
# QEMU's emulation of aarch64 has a PMU that Debian's kernel drives like a real one.  With -icount it counts
# instructions exactly, and as many cycles (shift=0) or twice as many (shift=1): a known CPI to test against.  It has
# no events for caches, TLBs and branches.
#
# The machine (kernel, root file system, sysroot to compile with) is made once and kept in $XDG_CACHE_HOME/mmprof, or
# in the build directory: 200 MB to download, 1.8 GB on the disk.  Packages are only unpacked: nothing of them runs on
# this machine.  MMPROF_APT_SOURCES may name a mirror of Debian, or a file of apt sources; where this machine runs the
# same Debian, its own sources are taken.
#
# There is no compiler in it.  Where a test calls javac and its like, those of the runtime's modules do.
#
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

machine_version=5 # another one is made anew
machine=${XDG_CACHE_HOME:+$XDG_CACHE_HOME/mmprof/}
machine=${machine:-$build/}pmu-machine-$machine_version
machine_runtime=bash,dash,coreutils,util-linux,mount,procps,grep,sed,gawk,diffutils,findutils,tar
machine_runtime=$machine_runtime,libc-bin,busybox-static,linux-perf
machine_runtime=$machine_runtime,openjdk-17-jre-headless,libpfm4,libelf1,libdw1,libcjson1,zlib1g,linux-image-arm64
machine_devel=libc6-dev,libpfm4-dev,libelf-dev,libdw-dev,libcjson-dev,zlib1g-dev

machine_setup_s=480 # to download and make it
machine_run_s=${MACHINE_RUN_S:-400} # for the test inside, less than the timeouts of the scripts here

# In the order in which they are loaded.
machine_modules="virtio/virtio_mmio block/virtio_blk lib/crc16 crypto/crc32c_generic fs/mbcache fs/jbd2 fs/ext4
    fs/netfs fs/fscache net/9pnet net/9pnet_virtio fs/9p"

# Skip the test when a command that makes or runs the machine is missing.
machine_needs() {
    local command package
    PATH=$PATH:/usr/sbin:/sbin
    while read -r command package; do
        command -v "$command" > "$SCRATCH/which" || skip_all "there is no $command; Debian's $package has it"
    done <<- 'END'
	qemu-system-aarch64 qemu-system-arm
	mmdebstrap mmdebstrap
	mke2fs e2fsprogs
	cpio cpio
	aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
	END
}

# The kernel starts this: load what the root file system needs, and go there.
machine_initrd() {
    local at=$machine/initrd kernel=$machine/root/lib/modules/$1/kernel name n=0
    mkdir -p "$at"/{bin,dev,proc,sys,root,modules} || return 1
    cp "$machine/root/bin/busybox" "$at/bin/" || return 1
    for name in $machine_modules; do
        n=$((n + 1))
        # Some are built into some kernels.
        find "$kernel" -path "*/${name##*/}.ko" -exec cp {} "$at/modules/$(printf %02d $n).ko" \;
    done
    cat > "$at/init" <<- 'END'
	#!/bin/busybox sh
	b=/bin/busybox
	$b mount -t proc proc /proc
	$b mount -t sysfs sysfs /sys
	$b mount -t devtmpfs devtmpfs /dev
	for module in /modules/*.ko; do $b insmod "$module"; done
	until [ -b /dev/vda ]; do $b usleep 10000; done
	$b mount -t ext4 /dev/vda /root
	for there in dev proc sys; do $b mount --move /$there /root/$there; done
	exec $b switch_root /root /init
	END
    chmod 755 "$at/init"
    (cd "$at" && find . | cpio -o -H newc --quiet > ../initrd.cpio)
}

# The first process of the root file system: run the job of the directory that it shares with the host.
machine_init() {
    cat <<- 'END'
	#!/bin/bash
	export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/lib/jvm/java-17-openjdk-arm64/bin HOME=/root
	mount -t tmpfs -o size=75% tmpfs /tmp
	mount -t tmpfs tmpfs /run
	mkdir /run/host /tmp/mmprof /dev/shm
	mount -t tmpfs tmpfs /dev/shm
	ln -s /proc/self/fd /dev/fd
	ln -s /proc/self/fd/0 /dev/stdin
	ln -s /proc/self/fd/1 /dev/stdout
	ln -s /proc/self/fd/2 /dev/stderr
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /run/host
	busybox ifconfig lo 127.0.0.1 up
	tar -C /tmp/mmprof -xf /run/host/in.tar && cd /tmp/mmprof && bash job > /run/host/out 2> /run/host/err
	echo $? > /run/host/status
	sync
	busybox poweroff -f
	END
}

# machine_tool NAME MODULE/CLASS: a program of the JDK of which the runtime has only the module.
machine_tool() {
    local bin=$1/usr/lib/jvm/java-17-openjdk-arm64/bin
    printf '#!/bin/sh\nexec "${0%%/*}/java" -XX:TieredStopAtLevel=1 -m %s "$@"\n' "$3" > "$bin/$2" &&
        chmod 755 "$bin/$2"
}

machine_disk() {
    local at=$machine/stage
    mkdir -p "$at" || return 1
    tar -C "$machine/root" --exclude=./boot --exclude='./lib/modules' --exclude='./usr/lib/modules' \
        --exclude='./usr/include' --exclude='./usr/share/doc' --exclude='./usr/share/man' \
        --exclude='./usr/share/locale' --exclude='./var/cache' --exclude='./var/lib/apt' \
        --exclude='./etc/apt' --exclude='*.a' -cf - . |
        tar -C "$at" -xf - || return 1
    machine_tool "$at" javac jdk.compiler/com.sun.tools.javac.Main &&
        machine_tool "$at" javap jdk.jdeps/com.sun.tools.javap.Main &&
        machine_tool "$at" jimage jdk.jlink/jdk.tools.jimage.Main &&
        machine_tool "$at" jar jdk.jartool/sun.tools.jar.Main &&
        machine_tool "$at" jcmd jdk.jcmd/sun.tools.jcmd.JCmd || return 1
    machine_init > "$at/init"
    chmod 755 "$at/init"
    mkdir -p "$at"/{tmp,run,proc,sys,dev,root,mnt,var/tmp}
    printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'nobody:x:65534:65534:nobody:/:/bin/false' > "$at/etc/passwd"
    echo 'root:x:0:' > "$at/etc/group"
    echo '127.0.0.1 localhost' > "$at/etc/hosts"
    [ -e "$at/usr/bin/awk" ] || ln -s gawk "$at/usr/bin/awk"
    truncate -s 1200M "$machine/disk" &&
        mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -d "$at" "$machine/disk" && rm -rf "$at"
}

machine_sources() {
    local own=/etc/apt/sources.list.d/debian.sources
    if [ -n "${MMPROF_APT_SOURCES-}" ]; then
        echo "$MMPROF_APT_SOURCES"
    elif [ -r $own ] && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
        echo $own
    fi
}

machine_make() {
    local kernel sources free_kb
    sources=$(machine_sources)
    [ -e "$machine/made" ] && return
    free_kb=$(df -Pk "$(dirname "$machine")" | awk 'NR == 2 { print $4 }')
    if [ "${free_kb:-0}" -lt 2500000 ]; then
        echo "it takes 2.5 GB in $(dirname "$machine"), which has $((${free_kb:-0} / 1000)) MB"
        return 1
    fi
    rm -rf "$machine"
    mkdir -p "$machine"
    mmdebstrap --variant=extract --architectures=arm64 --aptopt='APT::Install-Recommends "false"' \
        --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "2"' --aptopt='Acquire::http::Timeout "30"' \
        --include="$machine_runtime,$machine_devel" bookworm "$machine/root" ${sources:+"$sources"} || return 1
    kernel=$(ls "$machine/root/lib/modules") || return 1
    cp "$machine/root/boot/vmlinuz-$kernel" "$machine/vmlinuz" && machine_initrd "$kernel" && machine_disk || return 1
    touch "$machine/made"
}

# machine_ready: make it, one process at a time, within $machine_setup_s seconds; else skip the test.  With
# MACHINE_TRIED (after setup.sh) that is not tried again.
machine_ready() {
    local status
    [ -e "$machine/made" ] && return
    [ -z "${MACHINE_TRIED-}" ] || skip_all "there is no machine to run it in: see setup.sh"
    mkdir -p "$(dirname "$machine")"
    export -f machine_make machine_sources machine_initrd machine_init machine_tool machine_disk
    export machine machine_runtime machine_devel machine_modules
    timeout -k 10 "$machine_setup_s" flock "$machine.lock" bash -c machine_make > "$SCRATCH/made" 2>&1
    status=$?
    [ $status = 0 ] && return
    [ $status != 124 ] || echo "it took more than $machine_setup_s s" >> "$SCRATCH/made"
    skip_all "the machine cannot be made: $(tail -n 1 "$SCRATCH/made")"
}



# mmprof, its agent and the tests for the machine; the classes are any machine's.
machine_build() {
    local arm=$build/aarch64
    make -C "$root" -j2 --no-print-directory CC=aarch64-linux-gnu-gcc BUILD="$arm" \
        CFLAGS="-O2 --sysroot=$machine/root" \
        LDFLAGS="--sysroot=$machine/root" make unit tools "$arm/test/java/libmicronatives.so" &&
        make -C "$root" -j2 --no-print-directory BUILD="$build" "$build/test/java/.made"
}

# What the machine sees: the sources, and what was built, where a build puts it.  $1 is the test that it runs.
machine_share() {
    local in=$SCRATCH/in arm=$build/aarch64 program built
    mkdir -p "$in"/build/test/{unit,tools} "$SCRATCH/share"
    tar -C "$root" --exclude=./build --exclude=./.git -cf - . | tar -C "$in" -xf - &&
        cp -r "$arm/mmprof" "$arm/libexec" "$arm/libmmprof-agent.so" "$arm/libmmprof-lab-agent.so" "$in/build/" &&
        cp -r "$build/test/java" "$in/build/test/" &&
        cp "$arm/test/java/libmicronatives.so" "$in/build/test/java/" || return 1
    for program in "$root"/test/unit/*.c "$root"/test/tools/*.c; do
        program=${program#"$root"/}
        built=${program%.c}
        [ "$built" = "${built%_agent}" ] || built=$built.so
        cp "$arm/$built" "$in/build/$built" || return 1
    done
    cat > "$in/job" <<- END
	export MMPROF_IN_MACHINE=1 BUILD=/tmp/mmprof/build MMPROF_SLOW=5 MACHINE_RUN_S=$machine_run_s PMU_ALL="${PMU_ALL-}"
	sysctl -q -w kernel.perf_event_paranoid=-1 kernel.perf_user_access=1
	exec bash test/pmu/$1
	END
    tar -C "$in" -cf "$SCRATCH/share/in.tar" . && rm -rf "$in"
}

machine_start() {
    timeout -k 10 "$machine_run_s" \
        qemu-system-aarch64 -M virt -cpu neoverse-n1 -m 2048 -nographic -no-reboot -nodefaults -serial stdio \
        -kernel "$machine/vmlinuz" -initrd "$machine/initrd.cpio" -append "console=ttyAMA0 panic=-1 quiet" \
        -drive "if=none,id=disk,file=$machine/disk,format=raw,snapshot=on" -device virtio-blk-device,drive=disk \
        -fsdev "local,id=host,path=$SCRATCH/share,security_model=none" \
        -device virtio-9p-device,fsdev=host,mount_tag=host "$@" < /dev/null > "$SCRATCH/console" 2>&1
}

# in_machine OPTION...: run this test inside, in a machine started with these options of QEMU; go on if we are inside.
in_machine() {
    local status
    [ -z "${MMPROF_IN_MACHINE-}" ] || return 0
    machine_needs
    machine_ready
    if ! machine_build > "$SCRATCH/built" 2>&1 || ! machine_share "$(basename "$0")" >> "$SCRATCH/built" 2>&1; then
        not_ok "mmprof builds for aarch64" "$(tail -n 20 "$SCRATCH/built")"
        done_testing
    fi
    machine_start "$@"
    status=$?
    cat "$SCRATCH/share/out"
    sed 's/^/# /' "$SCRATCH/share/err"
    if [ ! -s "$SCRATCH/share/status" ]; then
        echo "Bail out! the machine stopped (status $status of QEMU): $(tail -n 3 "$SCRATCH/console")"
        exit 1
    fi
    exit "$(cat "$SCRATCH/share/status")"
}

# passes PROGRAM: a test of 'make check', as one claim; skipped when there is little time left.
passes() {
    if [ $SECONDS -gt $((MACHINE_RUN_S * 2 / 3)) ]; then
        skip "$1" "after $SECONDS s there is not enough time left in this machine"
        return
    fi
    if TEST_TIMEOUT=900 test/run "$1" > "$SCRATCH/passes" 2>&1; then
        ok "$1: $(tail -n 1 "$SCRATCH/passes")"
    else
        not_ok "$1" "$(cat "$SCRATCH/passes")"
    fi
}
