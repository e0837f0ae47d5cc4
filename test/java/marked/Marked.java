import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

import mmprof.Marks;

/** Marks regions of known CPU time, in ms as the thread's clock has it; prints "MARK TIMES MS" for each. */
public final class Marked {
    static volatile long sink;

    /** Returns the CPU time that it took, in ns. */
    private static long burn(long ms) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime(), end = start + ms * 1000000;
        while (threads.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 1000; i++)
                sink += i;
        return threads.getCurrentThreadCpuTime() - start;
    }

    /** The mark that it sets holds for the caller, too. */
    private static long parse() {
        Marks.mark("parse");
        return burn(60);
    }

    public static void main(String[] args) {
        long parse = 0, write = 0;
        burn(100); /* before the first mark */
        Marks.start();
        long started = burn(150);
        for (int i = 0; i < 3; i++) {
            parse += parse();
            parse += burn(40);
            Marks.mark("write");
            write += burn(30);
            Marks.pause();
            burn(50);
        }
        System.out.println("parse 3 " + parse / 1000000);
        System.out.println("started 1 " + started / 1000000);
        System.out.println("write 3 " + write / 1000000);
    }
}
