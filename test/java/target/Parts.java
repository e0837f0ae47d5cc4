package target;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A bit of what a JVM does: code that C2 compiles with a small method inlined, and garbage to collect; for so many ms
 * of CPU time of the main thread, whatever the machine.
 */
public final class Parts {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static Object[] live = new Object[200_000];

    private Parts() {
    }

    private static long cpuMillis() {
        return THREADS.getCurrentThreadCpuTime() / 1_000_000;
    }

    private static long step(long x) {
        return (x ^ x >>> 7) * 31 + 1;
    }

    private static long compute(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x = step(x);
        }
        return x;
    }

    private static int allocate(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            byte[] garbage = new byte[64];
            live[(i * 7919) % live.length] = garbage;
            sum += garbage.length;
        }
        return sum;
    }

    public static void main(String[] args) {
        long end = cpuMillis() + Long.parseLong(args[0]);
        long sum = 0;
        while (cpuMillis() < end) {
            sum += compute(2_000_000);
            sum += allocate(100_000);
        }
        System.gc();
        System.out.println("DONE " + (sum == 42 ? "odd" : "ok"));
    }
}
