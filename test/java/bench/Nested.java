package bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Computes on one thread, 20 calls deep, and prints each quarter of a second the CPU time of a round in us. */
public final class Nested {
    private static volatile long sink;

    public static void main(String[] args) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long x = 1;
        for (int turn = 0; turn < 4 * Integer.parseInt(args[0]); turn++) {
            long end = System.nanoTime() + 250_000_000L;
            long cpu = system.getProcessCpuTime();
            long rounds = 0;
            for (; System.nanoTime() < end; rounds += 200)
                for (int i = 0; i < 200; i++)
                    x += step(20, x + i);
            cpu = system.getProcessCpuTime() - cpu;
            sink = x;
            System.out.println(cpu / 1e3 / rounds);
        }
    }

    private static long step(int depth, long x) {
        if (depth == 0) {
            long y = x;
            for (int i = 0; i < 400; i++)
                y = y * 31 + (y >>> 7);
            return y;
        }
        return depth % 2 == 0 ? even(depth, x) : odd(depth, x);
    }

    private static long even(int depth, long x) {
        return step(depth - 1, x + depth) + 1;
    }

    private static long odd(int depth, long x) {
        return step(depth - 1, x ^ depth) + 1;
    }
}
