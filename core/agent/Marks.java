package mmprof;

/**
 * Marks of a program's regions, for 'mmprof record --argument mmprof.Marks.mark(1)'. The methods do nothing: mmprof sees
 * their calls, and without it the JIT compiler removes them. A mark holds in its thread until the next one.
 */
public final class Marks {
    private Marks() {}

    /** From here on the thread's time is that of the mark "started". */
    public static void start() {
        mark("started");
    }

    /** The thread's mark ends; what follows is none's, up to the next one. */
    public static void pause() {
        mark(null);
    }

    /** From here on the thread's time is of that name: a constant, or one of few. */
    public static void mark(String name) {}
}
