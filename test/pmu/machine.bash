# A machine with a PMU, for the tests in this directory, to be sourced:  . "$(dirname "$0")/machine.bash"
#
# QEMU's emulation of aarch64 has a PMU that Debian's kernel drives like a real one.  With -icount it counts
# instructions exactly, and as many cycles (shift=0) or twice as many (shift=1): a known CPI to test against.  It has
# no events for caches, TLBs and branches.
#
# The machine (kernel, root file system, sysroot to compile with) is made once and kept in $XDG_CACHE_HOME/mmprof, or
# in the build directory: 190 MB to download, 1.5 GB on the disk.  Packages are only unpacked: nothing of them runs on
# this machine.  MMPROF_APT_SOURCES may name a mirror of Debian, or a file of apt sources; where this machine runs the
# same Debian, its own sources are taken.
#
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

machine_version=1 # another one is made anew
machine=${XDG_CACHE_HOME:+$XDG_CACHE_HOME/mmprof/}
machine=${machine:-$build/}pmu-machine-$machine_version
machine_runtime=bash,dash,coreutils,util-linux,mount,procps,grep,sed,gawk,diffutils,libc-bin,busybox-static
machine_runtime=$machine_runtime,openjdk-17-jre-headless,libpfm4,libelf1,libdw1,libcjson1,zlib1g,linux-image-arm64
machine_devel=libc6-dev,libpfm4-dev,libelf-dev,libdw-dev,libcjson-dev,zlib1g-dev

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
	mount -t tmpfs tmpfs /tmp
	mount -t tmpfs tmpfs /run
	mkdir /run/host
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /run/host
	busybox ifconfig lo 127.0.0.1 up
	cp -r /run/host/in /tmp/mmprof && cd /tmp/mmprof && bash job > /run/host/out 2> /run/host/err
	echo $? > /run/host/status
	sync
	busybox poweroff -f
	END
}

machine_disk() {
    local at=$machine/stage
    mkdir -p "$at" || return 1
    tar -C "$machine/root" --exclude=./boot --exclude='./lib/modules' --exclude='./usr/lib/modules' \
        --exclude='./usr/include' --exclude='./usr/share/doc' --exclude='./usr/share/man' \
        --exclude='./usr/share/locale' --exclude='./var/cache' --exclude='./var/lib/apt' \
        --exclude='./etc/apt' --exclude='*.a' -cf - . |
        tar -C "$at" -xf - || return 1
    machine_init > "$at/init"
    chmod 755 "$at/init"
    mkdir -p "$at"/{tmp,run,proc,sys,dev,root}
    printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'nobody:x:65534:65534:nobody:/:/bin/false' > "$at/etc/passwd"
    echo 'root:x:0:' > "$at/etc/group"
    echo '127.0.0.1 localhost' > "$at/etc/hosts"
    [ -e "$at/usr/bin/awk" ] || ln -s gawk "$at/usr/bin/awk"
    truncate -s 900M "$machine/disk" &&
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
    local kernel sources
    sources=$(machine_sources)
    [ -e "$machine/made" ] && return
    rm -rf "$machine"
    mkdir -p "$machine"
    mmdebstrap --variant=extract --architectures=arm64 --aptopt='APT::Install-Recommends "false"' \
        --aptopt='Acquire::Languages "none"' --include="$machine_runtime,$machine_devel" bookworm "$machine/root" \
        ${sources:+"$sources"} || return 1
    kernel=$(ls "$machine/root/lib/modules") || return 1
    cp "$machine/root/boot/vmlinuz-$kernel" "$machine/vmlinuz" && machine_initrd "$kernel" && machine_disk || return 1
    touch "$machine/made"
}

# The unit tests that look at the counters.
machine_unit=(counters_test counters_read_test selftest_test kernel_rings_test default_sets_test doctor_test)

# mmprof and its agent for the machine, and the classes, which are any machine's.
machine_build() {
    make -C "$root" -j2 --no-print-directory CC=aarch64-linux-gnu-gcc BUILD="$build/aarch64" \
        CFLAGS="-O2 -g --sysroot=$machine/root" LDFLAGS="--sysroot=$machine/root" make \
        "${machine_unit[@]/#/$build/aarch64/test/unit/}" &&
        make -C "$root" -j2 --no-print-directory BUILD="$build" java
}

# What the machine sees.
machine_share() {
    local in=$SCRATCH/share/in
    mkdir -p "$in/build/test/unit" "$in/test/pmu"
    cp "$build/aarch64/mmprof" "$build/aarch64/libmmprof-agent.so" "$in/build/" &&
        cp -r "$build/test/java" "$in/build/test/" &&
        cp "${machine_unit[@]/#/$build/aarch64/test/unit/}" "$in/build/test/unit/" &&
        cp "$root/test/lib.sh" "$in/test/" && cp "$root"/test/pmu/* "$in/test/pmu/" || return 1
    cat > "$in/job" <<- END
	export MMPROF_IN_MACHINE=1 BUILD=/tmp/mmprof/build
	sysctl -q -w kernel.perf_event_paranoid=-1 kernel.perf_user_access=1
	exec bash test/pmu/$1
	END
}

machine_start() {
    qemu-system-aarch64 -M virt -cpu neoverse-n1 -smp 1 -m 2048 -nographic -no-reboot -nodefaults -serial stdio \
        -kernel "$machine/vmlinuz" -initrd "$machine/initrd.cpio" -append "console=ttyAMA0 panic=-1 quiet" \
        -drive "if=none,id=disk,file=$machine/disk,format=raw,snapshot=on" -device virtio-blk-device,drive=disk \
        -fsdev "local,id=host,path=$SCRATCH/share,security_model=none" \
        -device virtio-9p-device,fsdev=host,mount_tag=host "$@" < /dev/null > "$SCRATCH/console" 2>&1
}

# in_machine OPTION...: run this test inside, in a machine started with these options of QEMU; go on if we are inside.
in_machine() {
    [ -z "${MMPROF_IN_MACHINE-}" ] || return 0
    machine_needs
    mkdir -p "$(dirname "$machine")"
    (flock 9 && machine_make) 9> "$machine.lock" > "$SCRATCH/made" 2>&1 ||
        skip_all "the machine cannot be made: $(tail -n 1 "$SCRATCH/made")"
    if ! machine_build > "$SCRATCH/built" 2>&1 || ! machine_share "$(basename "$0")"; then
        not_ok "mmprof builds for aarch64" "$(tail -n 20 "$SCRATCH/built")"
        done_testing
    fi
    machine_start "$@"
    if [ ! -s "$SCRATCH/share/status" ]; then
        echo "Bail out! the machine stopped: $(tail -n 3 "$SCRATCH/console")"
        exit 1
    fi
    cat "$SCRATCH/share/out"
    sed 's/^/# /' "$SCRATCH/share/err"
    exit "$(cat "$SCRATCH/share/status")"
}
