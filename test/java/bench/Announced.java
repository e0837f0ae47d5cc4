package bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;

/**
 * Programs that say on standard error which phase they enter, as 'PHASE NUMBER NAME NS CPU_NS', until they are killed:
 * the monotonic clock, and what their threads have used (test/bench/announced.sh). The first argument is the program:
 * turns, text, objects, recursion or pool.
 */
public final class Announced {
    private static final Random random = new Random(1);
    private static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    private static final List<Thread> threads = new ArrayList<>(Arrays.asList(Thread.currentThread()));
    private static final ExecutorService pool = Executors.newFixedThreadPool(3, work -> {
        threads.add(new Thread(work));
        return threads.get(threads.size() - 1);
    });
    private static volatile long sink;
    private static int n_phases;

    public static void main(String[] args) throws Exception {
        while (true) {
            switch (args[0]) {
            case "turns":
                turns();
                break;
            case "text":
                text();
                break;
            case "objects":
                objects();
                break;
            case "recursion":
                recursion();
                break;
            case "pool":
                pool();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
            }
        }
    }

    /** A phase of some seconds of wall time, half as many to half as many more: what it does, again and again. */
    private static void phase(String name, double seconds, Work work) throws Exception {
        long used = 0;
        for (Thread thread : threads)
            used += Math.max(0, clock.getThreadCpuTime(thread.getId()));
        long now = System.nanoTime();
        System.err.println("PHASE " + n_phases++ + " " + name + " " + now + " " + used);
        long end = now + (long) (seconds * (0.5 + random.nextDouble()) * 1e9);
        do {
            work.run();
        } while (System.nanoTime() < end);
    }

    private interface Work {
        void run() throws Exception;
    }

    // ---- turns: one kind of work in four methods ----

    private static void turns() throws Exception {
        phase("alpha", 0.9, () -> alpha(50));
        phase("beta", 0.6, () -> beta(50));
        phase("gamma", 0.3, () -> gamma(50));
        phase("delta", 0.2, () -> delta(50));
    }

    private static void alpha(int n) {
        spin(n);
    }

    private static void beta(int n) {
        spin(n);
    }

    private static void gamma(int n) {
        spin(n);
    }

    private static void delta(int n) {
        spin(n);
    }

    private static void spin(int n) {
        long sum = sink;
        for (int i = 0; i < n * 40_000; i++)
            sum = sum * 31 + (sum >>> 7);
        sink = sum;
    }

    // ---- text: what the JDK's methods take, for four callers ----

    private static void text() throws Exception {
        phase("format", 0.9, () -> format(1_000));
        phase("match", 0.6, () -> match(1_000));
        phase("sort", 0.4, () -> sort(4_000));
        phase("count", 0.3, () -> count(20_000));
    }

    private static void format(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += String.format("%d of %s", i, "these").length();
        sink += sum;
    }

    private static final Pattern word = Pattern.compile("([a-z]+)-([0-9]+)(x|y)*");

    private static void match(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += word.matcher("abcdefghij-" + i + "xyxyxyxy").matches() ? 1 : 0;
        sink += sum;
    }

    private static void sort(int n) {
        String[] all = new String[n];
        for (int i = 0; i < n; i++)
            all[i] = Integer.toString(random.nextInt());
        Arrays.sort(all);
        sink += all[0].length();
    }

    private static void count(int n) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (int i = 0; i < n; i++)
            counts.merge(random.nextInt(50_000), 1, Integer::sum);
        sink += counts.size();
    }

    // ---- objects: the collector works beside ----

    private static final class Node {
        Node left, right;
        long value;
    }

    private static Node tree;

    private static void objects() throws Exception {
        phase("build", 0.6, () -> tree = build(14));
        phase("walk", 0.5, () -> sink += walk(tree));
        phase("copy", 0.9, () -> sink += copied(20_000));
    }

    private static Node build(int depth) {
        Node node = new Node();
        node.value = depth;
        if (depth > 0) {
            node.left = build(depth - 1);
            node.right = build(depth - 1);
        }
        return node;
    }

    private static long walk(Node node) {
        return node == null ? 0 : node.value + walk(node.left) + walk(node.right);
    }

    private static int copied(int n) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < n; i++)
            all.add(new byte[64 + i % 64]);
        return new ArrayList<>(all).size();
    }

    // ---- recursion: deep and wide ----

    private static void recursion() throws Exception {
        phase("queens", 0.5, () -> sink += queens(9, 0, 0, 0, 0));
        phase("ackermann", 0.9, () -> sink += ackermann(2, 900));
        phase("steps", 0.6, () -> sink += steps(20));
    }

    private static int queens(int n, int row, int columns, int up, int down) {
        if (row == n)
            return 1;
        int found = 0;
        for (int free = ((1 << n) - 1) & ~(columns | up | down); free != 0; free &= free - 1) {
            int at = free & -free;
            found += queens(n, row + 1, columns | at, (up | at) << 1, (down | at) >> 1);
        }
        return found;
    }

    private static int ackermann(int m, int n) {
        if (m == 0)
            return n + 1;
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    private static int steps(int n) {
        return n < 2 ? 1 : steps(n - 1) + steps(n - 2);
    }

    // ---- pool: three threads work at once, the main thread waits ----

    private static void pool() throws Exception {
        phase("digest", 1.0, () -> together(() -> digest(100)));
        phase("scan", 0.6, () -> together(() -> scan(100)));
        phase("mix", 0.4, () -> together(() -> mix(100)));
    }

    private static void together(Runnable task) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++)
            all.add(pool.submit(task));
        for (Future<?> one : all)
            one.get();
    }

    private static void digest(int n) {
        spin(n);
    }

    private static void scan(int n) {
        byte[] data = new byte[1 << 16];
        long sum = 0;
        for (int i = 0; i < n; i++)
            for (byte b : data)
                sum += b ^ i;
        sink += sum;
    }

    private static void mix(int n) {
        double x = 1;
        for (int i = 0; i < n * 3_000; i++)
            x = Math.sqrt(x + i) * 1.5;
        sink += (long) x;
    }
}
