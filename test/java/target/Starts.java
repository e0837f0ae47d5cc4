package target;

import java.lang.management.ManagementFactory;

/** Starts up: one initializer takes 500 ms of CPU time, and so many classes, which the test makes, are loaded. */
public class Starts {
    static long cpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static class Slow {
        static double sum;

        static {
            long end = cpuNs() + 500_000_000L;
            while (cpuNs() < end)
                for (int i = 1; i < 10_000; i++)
                    sum += 1.0 / i;
        }
    }

    static class Quick {
        static final double value = Math.sqrt(2);
    }

    public static void main(String[] args) throws Exception {
        System.out.println(Slow.sum > 0 && Quick.value > 1);
        for (int i = 0; i < Integer.parseInt(args[0]); i++)
            Class.forName("target.Many$C" + i);
        System.out.println("DONE");
    }
}
