package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Collections;

/**
 * Phases of known parts of its CPU time, for the seconds of its argument: paint 62 % and outline 8 %, both by the same
 * engine, whose methods only call the next one; parse 20 %; sort 10 %, which is a library's that calls back.
 */
public final class Painting {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] args) {
        long end = THREADS.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        while (THREADS.getCurrentThreadCpuTime() < end) {
            paint();
            outline();
            parse();
            sort();
        }
    }

    private static void paint() {
        Engine.process(6_200_000);
    }

    private static void outline() {
        Engine.process(800_000);
    }

    private static void parse() {
        work(2_000_000);
    }

    private static void sort() {
        Collections.sort(Arrays.asList(1, 2), Painting::compare);
    }

    private static int compare(int a, int b) {
        work(1_000_000);
        return 0;
    }

    private static final class Engine {
        static void process(long ns) {
            operate(ns);
        }

        static void operate(long ns) {
            draw(ns);
        }

        static void draw(long ns) {
            work(ns);
        }
    }

    private static void work(long ns) {
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 2000; i++)
                sink = sink * 31 + i;
    }
}
