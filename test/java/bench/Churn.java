package bench;

import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * A program in which nothing stays, as weeks of a server are: each round loads classes by a loader of its own, uses
 * them on threads of its own, and forgets both. Arguments: classes and threads a round, milliseconds of a round, and a file
 * whose existence ends it. Each second it says how many there were.
 */
public final class Churn {
    private static volatile long sink;

    /** Defines copies of a class under names that no other round has. */
    private static final class Own extends ClassLoader {
        Own() {
            super(Churn.class.getClassLoader());
        }

        LongUnaryOperator made(byte[] like, int number) throws Exception {
            byte[] bytes = like.clone(), from = "Made00000".getBytes(StandardCharsets.UTF_8);
            byte[] to = String.format("Made%05d", number % 100000).getBytes(StandardCharsets.UTF_8);
            for (int at = 0; at + from.length <= bytes.length; at++)
                if (Arrays.equals(bytes, at, at + from.length, from, 0, from.length))
                    System.arraycopy(to, 0, bytes, at, to.length);
            Class<?> type = defineClass(null, bytes, 0, bytes.length);
            return (LongUnaryOperator) type.getDeclaredConstructor().newInstance();
        }
    }

    public static void main(String[] args) throws Exception {
        int classes = Integer.parseInt(args[0]), threads = Integer.parseInt(args[1]), ms = Integer.parseInt(args[2]);
        Path stop = Path.of(args[3]);
        byte[] like;
        try (InputStream in = Classes.class.getResourceAsStream("Classes$Made00000.class")) {
            like = in.readAllBytes();
        }
        WeakReference<ClassLoader> first = null;
        long said = System.nanoTime();
        int unloaded = 0, round = 0;
        for (; !Files.exists(stop); round++) {
            ClassLoader loader = round(like, round, classes, threads, ms);
            if (first == null)
                first = new WeakReference<>(loader);
            if (first.get() == null)
                unloaded = round;
            if (System.nanoTime() - said > 1_000_000_000) {
                said = System.nanoTime();
                System.out.println("CHURN " + (long) round * classes + " classes, " + (long) round * threads
                        + " threads, first unloaded before round " + unloaded);
            }
        }
    }

    private static ClassLoader round(byte[] like, int round, int classes, int threads, int ms) throws Exception {
        Own loader = new Own();
        LongUnaryOperator[] made = new LongUnaryOperator[classes];
        for (int i = 0; i < classes; i++)
            made[i] = loader.made(like, round * classes + i);
        Thread[] all = new Thread[threads];
        long end = System.nanoTime() + ms * 1_000_000L;
        for (int t = 0; t < threads; t++) {
            all[t] = new Thread(() -> use(made, end), "churn-" + round + "-" + t);
            all[t].start();
        }
        for (Thread thread : all)
            thread.join();
        return loader;
    }

    /** Half of the time it rests. */
    private static void use(LongUnaryOperator[] made, long end) {
        byte[][] kept = new byte[16][];
        for (int i = 0; System.nanoTime() < end; i++) {
            kept[i % kept.length] = new byte[1024];
            for (int k = 0; k < 2000; k++)
                sink += made[k % made.length].applyAsLong(k + i);
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
