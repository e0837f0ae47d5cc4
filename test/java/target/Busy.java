package target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A program to attach to: two threads (-Dbusy.others=1: and more) do the same work in rounds and compare each round's
 * checksum with that of the first.  They rest between rounds, all but one of them much longer, and leave CPUs to what is
 * tested with them; not with -Dbusy.rest=false.  A line 'ROUND n' shows that it goes on; 'WRONG' that something changed it.  It ends, with
 * 'END n rounds ok', when the file exists that is its argument; with a second argument it ends by itself after so many
 * seconds.
 */
public final class Busy {
    private static final class Shape extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int corners;

        Shape(int corners) {
            super(null, null, false, false);
            this.corners = corners;
        }
    }

    private static final boolean RESTS = Boolean.parseBoolean(System.getProperty("busy.rest", "true"));
    private static final long REST_NANOS = 1_000_000_000;
    private static final int OTHERS = Integer.getInteger("busy.others", 1);
    private static long wrong;

    public static void main(String[] args) throws Exception {
        Path stop = Path.of(args[0]);
        long end = args.length > 1 ? System.nanoTime() + 1_000_000_000L * Long.parseLong(args[1]) : Long.MAX_VALUE;
        long expected = round(0);
        Thread[] others = new Thread[OTHERS];
        for (int i = 0; i < OTHERS; i++) {
            others[i] = new Thread(() -> works(stop, end, expected, false), "busy-other");
            others[i].start();
        }
        long rounds = works(stop, end, expected, true);
        for (Thread other : others)
            other.join();
        System.out.println("END " + rounds + " rounds " + (wrong == 0 ? "ok" : "WRONG"));
    }

    private static long works(Path stop, long end, long expected, boolean speaks) {
        long rounds = 0, spoken = System.nanoTime();
        while (!Files.exists(stop) && System.nanoTime() < end) {
            long begin = System.nanoTime();
            if (round(0) != expected) {
                wrong++;
                System.out.println("WRONG");
            }
            rounds++;
            if (speaks && System.nanoTime() - spoken > 100_000_000) {
                System.out.println("ROUND " + rounds);
                spoken = System.nanoTime();
            }
            if (RESTS)
                LockSupport.parkNanos(Math.min((System.nanoTime() - begin) * (speaks ? 1 : 9 * OTHERS), REST_NANOS));
        }
        return rounds;
    }

    /** Some ten milliseconds: recursion, exceptions, collections, strings, a lambda. */
    static long round(long seed) {
        long sum = seed;
        for (int i = 0; i < 200; i++) {
            sum = sum * 31 + depth(i % 40) + corners(i);
            sum = sum * 31 + words(i) + sorted(i);
        }
        return sum;
    }

    private static int depth(int n) {
        return n == 0 ? 1 : depth(n - 1) + (n & 3);
    }

    private static int corners(int i) {
        int sum = 0;
        for (int k = 0; k < 20; k++)
            try {
                sum += draw(i + k);
            } catch (Shape shape) {
                sum += shape.corners;
            }
        return sum;
    }

    private static int draw(int i) {
        if (i % 3 == 0)
            throw new Shape(i);
        return 1;
    }

    private static long words(int i) {
        TreeMap<String, Integer> counts = new TreeMap<>();
        for (int k = 0; k < 30; k++)
            counts.merge("word" + (i * k) % 17, 1, Integer::sum);
        return counts.toString().hashCode();
    }

    private static long sorted(int i) {
        List<Integer> numbers = new ArrayList<>();
        for (int k = 0; k < 100; k++)
            numbers.add((i * 7919 + k * 104729) % 1009);
        Collections.sort(numbers, (a, b) -> b - a);
        return numbers.get(50) * 31L + numbers.get(0);
    }
}
