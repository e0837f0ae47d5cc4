/**
 * Stacks with each kind of frame, all the time: interpreted (run with -XX:CompileCommand=exclude,Frames.interpreted),
 * compiled, inlined, recursive, native, and calls from the JVM into Java in the middle of the stack (a class that is
 * initialized).  Prints "running" when its methods are compiled.  Ends when the file that is its argument is there.
 */
public class Frames {
    private static volatile boolean ends;
    static volatile long kept;
    private static final java.util.concurrent.atomic.AtomicLong rounds = new java.util.concurrent.atomic.AtomicLong();

    static long work(int n) {
        long sum = 0;
        for (int i = 1; i < n; i++)
            sum += (sum << 5) % i + i;
        return sum;
    }

    private static long inlined(int n) {
        return work(n) + 1;
    }

    private static long recursive(int depth, long a, long b, long c, long d) {
        return depth == 0 ? inlined(2000) + a * b + c * d : recursive(depth - 1, b, c, d, a) + a;
    }

    private static long interpreted(int n) {
        long sum = recursive(5, n, 2, 3, 4);
        for (int i = 0; i < 40; i++)
            sum += i * n;
        return sum;
    }

    private static void natives() {
        for (int i = 0; i < 20; i++)
            if (new java.io.File("/proc/self/stat").exists())
                kept++;
    }

    private static void forever() {
        while (!ends) {
            kept += interpreted(3);
            kept += recursive(20, 1, 2, 3, 4);
            natives();
            rounds.incrementAndGet();
        }
    }

    /* Initialized by the JVM, which calls Java for it: it takes as long as the program. */
    private static class Initialized {
        static final long number = number();

        private static long number() {
            forever();
            return kept;
        }
    }

    private static void start(final boolean initializes) {
        Thread thread = new Thread("frames " + initializes) {
            @Override
            public void run() {
                if (initializes)
                    kept += Initialized.number;
                else
                    forever();
            }
        };
        thread.start();
    }

    /** A library is mapped as a file, and loaded. */
    private static java.nio.ByteBuffer mapped(String library) throws Exception {
        try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(library, "r")) {
            System.load(library);
            return file.getChannel().map(java.nio.channels.FileChannel.MapMode.READ_ONLY, 0, file.length());
        }
    }

    public static void main(String[] args) throws Exception {
        java.nio.ByteBuffer library = args.length > 1 ? mapped(args[1]) : null;
        for (int i = 0; i < 2; i++)
            start(i == 1);
        while (rounds.get() < 4000)
            Thread.sleep(50);
        System.out.println("running");
        while (!new java.io.File(args[0]).exists())
            Thread.sleep(50);
        ends = true;
        if (library != null && library.get(1) != 'E')
            throw new AssertionError();
    }
}
