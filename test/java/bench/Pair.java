package bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * What a call costs: bursts of calls from a caller that C2 has compiled, with pauses in which a recorder empties the
 * buffers.  Prints 'NS x', the median over the bursts of the thread's CPU time in ns per call, and 'ELAPSED x', the same
 * by the clock, which has what else runs on this CPU, the recorder to begin with.  Arguments: bursts (60), calls per
 * burst (100000), milliseconds of pause (15).  With -Dbench.disarm=true the flags of instrumented methods are closed first,
 * as mmprof does it: by setting the fields that the methods' code reads.
 */
public final class Pair {
    public static void main(String[] args) throws Exception {
        if (Boolean.getBoolean("bench.disarm"))
            System.out.println("DISARMED " + disarm());
        int bursts = number(args, 0, 60), calls = number(args, 1, 100_000), pause = number(args, 2, 15);
        double[] ns = new double[bursts], elapsed = new double[bursts];
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int x = 1;
        for (int i = -bursts / 2; i < bursts; i++) {       // the first ones compile
            Thread.sleep(pause);
            long start = System.nanoTime(), used = threads.getCurrentThreadCpuTime();
            x = burst(calls, x);
            used = threads.getCurrentThreadCpuTime() - used;
            if (i < 0)
                continue;
            elapsed[i] = (double) (System.nanoTime() - start) / calls;
            ns[i] = (double) used / calls;
        }
        Arrays.sort(ns);
        Arrays.sort(elapsed);
        System.out.printf("NS %.3f%nELAPSED %.3f%nRESULT %d%n", ns[bursts / 2], elapsed[bursts / 2], x);
    }

    private static int disarm() throws IllegalAccessException {
        int closed = 0;
        for (int n = 0; ; n++)
            try {
                for (Field field : Class.forName("java.lang.MmprofFlags" + n).getFields())
                    if (field.getInt(null) != 0) {
                        field.setInt(null, 0);
                        closed++;
                    }
            } catch (ClassNotFoundException e) {
                return closed;
            }
    }

    private static int number(String[] args, int index, int otherwise) {
        return args.length > index ? Integer.parseInt(args[index]) : otherwise;
    }

    static int burst(int calls, int x) {
        for (int i = 0; i < calls; i++)
            x = work(x + i);
        return x;
    }

    static int work(int x) {
        x = x * 31 + (x >>> 7);
        x = x * 17 + (x >>> 5);
        x = x * 13 + (x >>> 3);
        x = x * 11 + (x >>> 9);
        return x ^ x >>> 16;
    }
}
