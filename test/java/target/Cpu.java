package target;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Two threads compute, call methods, produce garbage, and sleep now and then; the last line is the CPU time of the
 * whole process so far, in ns:  CPU n.  Argument: seconds (5).
 */
public final class Cpu {
    private static volatile long sink;

    public static void main(String[] args) throws InterruptedException {
        long end = System.nanoTime() + 1_000_000_000L * (args.length > 0 ? Integer.parseInt(args[0]) : 5);
        Thread other = new Thread(() -> works(end), "cpu-other");
        other.start();
        works(end);
        other.join();
        System.out.println("CPU " + ((com.sun.management.OperatingSystemMXBean)
            ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime());
    }

    private static void works(long end) {
        long sum = 0;
        while (System.nanoTime() < end) {
            sum += computes(3_000_000);
            sum += allocates(100_000);
            sum += waits();
        }
        sink = sum;
    }

    private static long computes(int n) {
        long x = n;
        for (int i = 0; i < n; i++)
            x = x * 6364136223846793005L + (x >>> 33);
        return x;
    }

    private static long allocates(int n) {
        List<byte[]> list = new ArrayList<>();
        for (int i = 0; i < n; i++)
            list.add(new byte[64 + i % 64]);
        return list.size();
    }

    private static long waits() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 1;
    }
}
