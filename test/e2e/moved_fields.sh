#!/bin/bash
# A JVM whose fields are elsewhere than it says, as a build that nobody has seen: its stacks are refused, not read
# wrongly.
# timeout: 200
# long: yes
. "$(dirname "$0")/../lib.sh"

javac -d "$SCRATCH" "$root/test/java/releases/Releases.java"

move() {
    python3 "$root/test/tools/move_field.py" "$pid" "$1" "$2"
}

# sampled: its status; what it says is in $said.
sampled() {
    said=$("$mmprof" sample -F 199 -d "$1" --csv -p "$pid" 2>&1)
    status=$?
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    rm -f "$SCRATCH/end"
    start "$SCRATCH/out" "$jdk/bin/java" -Xmx64m -cp "$SCRATCH" Releases "$SCRATCH/end"
    sleep 1.5 # until methods are compiled
    sampled 2
    is "$v: as it is it can be sampled" "$status $(grep -c '^method,Releases.first,' <<< "$said")" "0 1"
    while read -r field by; do
        move "$field" "$by" > "$SCRATCH/not_exported" || continue
        sampled 0.3
        matches "$v: $field $by bytes further is refused" "$status $said" \
            '^1 mmprof sample: the layout of this JVM.s (stacks|code) is not known .*: [a-z]'
        move "$field" $((-by))
    done << 'END'
Symbol::_body 24
Klass::_name 8
ConstMethod::_constants 8
ConstMethod::_name_index 2
ConstantPool::_pool_holder 8
CodeBlob::_name 8
CodeHeap::_memory -8
CodeHeap::_segmap 8
StubQueue::_stub_buffer 8
nmethod::_metadata_offset 4
CodeBlob::_relocation_size 24
CodeBlob::_code_end 4
END
    sampled 2
    is "$v: with all of them back it is sampled again" "$status $(grep -c '^method,Releases.first,' <<< "$said")" "0 1"
    touch "$SCRATCH/end"
    wait "$pid"
done < <(jdks)

done_testing
