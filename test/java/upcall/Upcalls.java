package upcall;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Java that calls native code that calls Java, twice by the foreign function API (qsort and its comparator) and twice by
 * JNI, each in turn; leaf has most of the CPU time, plain what is left.
 */
public final class Upcalls {
    private static final int DEPTH = 4;
    private static MethodHandle qsort;
    private static MemorySegment comparator, two;
    private static int next;
    static volatile double sink;

    /** Calls descend(depth). */
    private static native void byJni(int depth);

    public static void main(String[] args) throws Throwable {
        System.loadLibrary("micronatives");
        Linker linker = Linker.nativeLinker();
        FunctionDescriptor sort = FunctionDescriptor.ofVoid(
                ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS);
        FunctionDescriptor compare =
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
        qsort = linker.downcallHandle(linker.defaultLookup().find("qsort").orElseThrow(), sort);
        MethodType type = MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class);
        comparator = linker.upcallStub(
                MethodHandles.lookup().findStatic(Upcalls.class, "compare", type), compare, Arena.global());
        two = Arena.global().allocate(8);
        System.out.println("READY");
        for (long end = System.nanoTime() + 600_000_000_000L; System.nanoTime() < end;) {
            descend(DEPTH);
            plain();
        }
    }

    static void descend(int depth) throws Throwable {
        if (depth == 0)
            leaf();
        else if (depth % 2 == 0)
            byJni(depth - 1);
        else
            byUpcall(depth - 1);
    }

    private static void byUpcall(int depth) throws Throwable {
        next = depth;
        qsort.invokeExact(two, 2L, 4L, comparator);
    }

    static int compare(MemorySegment a, MemorySegment b) {
        try {
            descend(next);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return 0;
    }

    private static void leaf() {
        sink = work(80_000);
    }

    private static void plain() {
        sink = work(20_000);
    }

    private static double work(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += Math.sqrt(i);
        return sum;
    }
}
