package pmu;

import java.io.File;

/**
 * Phases whose instructions are known from each other: steps3 runs the very loop of steps1 three times as long, and
 * each call of either takes the same path.
 *
 * KnownWork ROUNDS [STOP]: so many rounds, or until the file STOP exists; then 1,000 equal calls.  Prints how often it
 * called each.
 */
public final class KnownWork {
    private static final int STEPS = 200_000;
    private static final int WORDS = 1 << 14;
    private static final int[] memory = new int[WORDS];
    private static long sum;

    /** No loop of a JIT's liking: each step needs the one before. */
    static long loop(int n, long x) {
        for (int i = 0; i < n; i++)
            x = x * 6364136223846793005L + (x >>> 17);
        return x;
    }

    static long steps1(long x) {
        return loop(STEPS, x);
    }

    static long steps3(long x) {
        return loop(3 * STEPS, x);
    }

    static long fill(int value) {
        long result = 0;
        for (int i = 0; i < WORDS; i++) {
            memory[i] += value ^ i;
            result += memory[i];
        }
        return result;
    }

    static void round(int i) {
        sum += steps1(i) + steps3(i) + fill(i);
        if (i % 4 == 0)
            sum += steps1(sum);
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        File stop = args.length > 1 ? new File(args[1]) : null;
        for (int i = 0; i < 300; i++) /* compiled from here on */
            sum += loop(100, i) + fill(i);
        System.out.println("READY");
        int done = 0;
        while (stop == null ? done < rounds : !stop.exists())
            round(done++);
        for (int i = 0; i < 1000; i++)
            sum += fill(i);
        System.out.println("ROUNDS " + done + " steps1 " + (done + (done + 3) / 4) + " " + sum);
    }
}
