package pmu;

import java.io.File;
import java.io.FileOutputStream;

/**
 * Phases in which user space and kernel take different shares: compute() makes no system call, writes() little else,
 * and bursts() is now this, now that, in runs of several calls, without a period.  The same in each run.
 *
 * MixedWork ROUNDS [GO [THREADS]]: waits until the file GO exists, if one is named ("-" for none); then each thread
 * does so many rounds.
 */
public final class MixedWork {
    private static final int STEPS = 100_000;
    private static final byte[] bytes = new byte[64];

    private final FileOutputStream out;
    private long sum;

    private MixedWork(FileOutputStream out) {
        this.out = out;
    }

    static long compute(int n, long x) {
        for (int i = 0; i < n; i++)
            x = x * 6364136223846793005L + (x >>> 17);
        return x;
    }

    private void writes(int n) throws Exception {
        for (int i = 0; i < n; i++)
            out.write(bytes);
    }

    private void bursts(int round) throws Exception {
        if ((round / 5 * 0x9E3779B1 >>> 16) % 3 == 0)
            writes(150);
        else
            sum += compute(STEPS / 2, round);
    }

    private void round(int round) throws Exception {
        sum += compute(STEPS, round);
        writes(30);
        bursts(round);
    }

    private static void rounds(int n) {
        try (FileOutputStream out = new FileOutputStream("/dev/null")) {
            MixedWork work = new MixedWork(out);
            for (int i = 0; i < n; i++)
                work.round(i);
            System.out.println("ROUNDS " + n + " " + work.sum);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        File go = args.length > 1 && !args[1].equals("-") ? new File(args[1]) : null;
        System.out.println("READY");
        while (go != null && !go.exists())
            Thread.sleep(50);
        Thread[] others = new Thread[args.length > 2 ? Integer.parseInt(args[2]) - 1 : 0];
        for (int i = 0; i < others.length; i++) {
            others[i] = new Thread(() -> rounds(n), "mixed-" + (i + 2));
            others[i].start();
        }
        rounds(n);
        for (Thread other : others)
            other.join();
    }
}
