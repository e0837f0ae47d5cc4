import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A program for each JDK from 8 on: two methods take CPU time in a proportion that it measures itself.
 *
 * Ends when the file that is its argument is there; prints how many rounds it made, whether each computed the same, and
 * what part of the time "first" took, in per cent.
 */
public class Releases {
    private static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();

    private static long first(int n) {
        long sum = 0;
        for (int i = 1; i < n; i++)
            sum += (sum << 5) % i + i;
        return sum;
    }

    private static long second(int n) {
        long sum = 1;
        for (int i = 1; i < n; i++)
            sum ^= (sum * 31 + i) % (i + 7L);
        return sum;
    }

    /* Two thirds of the work are in first. */
    private static long round(long[] took) {
        long start = clock.getCurrentThreadCpuTime();
        long sum = first(400000);
        long middle = clock.getCurrentThreadCpuTime();
        sum += second(200000);
        took[0] += middle - start;
        took[1] += clock.getCurrentThreadCpuTime() - middle;
        return sum;
    }

    public static void main(String[] args) {
        java.io.File end = new java.io.File(args[0]);
        long[] took = new long[2];
        long sum = 0, rounds = 0;
        for (; !end.exists(); rounds++)
            sum = sum * 31 + round(took);
        long check = 0, each = first(400000) + second(200000);
        for (long i = 0; i < rounds; i++)
            check = check * 31 + each;
        System.out.println(rounds + " " + (sum == check) + " " + took[0] * 100 / (took[0] + took[1]));
    }
}
