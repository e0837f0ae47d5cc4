package bench;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * A program with many classes: as many as the first argument says are made of one, under other names, and each is used.
 * Then, until the file exists that is the second argument, two threads use some of them, half of the time.
 */
public final class Classes {
    /** What the classes are made of; its name is as long as theirs. */
    public static final class Made00000 implements LongUnaryOperator {
        @Override
        public long applyAsLong(long x) {
            long y = x;
            for (int i = 0; i < 8; i++)
                y = step(y, i);
            return y;
        }

        private static long step(long x, int i) {
            return i % 2 == 0 ? mix(x + i) : mix(x ^ i);
        }

        private static long mix(long x) {
            return x * 31 + (x >>> 7);
        }
    }

    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        LongUnaryOperator[] made = make(Integer.parseInt(args[0]));
        Path stop = Path.of(args[1]);
        for (int i = 0; i < 2; i++) {
            int first = i;
            Thread thread = new Thread(() -> use(made, first), "user-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY " + made.length);
        while (!Files.exists(stop))
            Thread.sleep(100);
    }

    private static LongUnaryOperator[] make(int n) throws Exception {
        byte[] bytes;
        try (InputStream in = Made00000.class.getResourceAsStream("Classes$Made00000.class")) {
            bytes = in.readAllBytes();
        }
        byte[] name = "Made00000".getBytes(StandardCharsets.UTF_8);
        LongUnaryOperator[] made = new LongUnaryOperator[n];
        for (int i = 0; i < n; i++) {
            byte[] mine = bytes.clone();
            byte[] other = String.format("Made%05d", i + 1).getBytes(StandardCharsets.UTF_8);
            for (int at = 0; at + name.length <= mine.length; at++)
                if (Arrays.equals(mine, at, at + name.length, name, 0, name.length))
                    System.arraycopy(other, 0, mine, at, other.length);
            Class<?> type = MethodHandles.lookup().defineClass(mine);
            made[i] = (LongUnaryOperator) type.getDeclaredConstructor().newInstance();
            sink += made[i].applyAsLong(i);
        }
        return made;
    }

    /** Another two hundred each second, so that some are compiled; with rests. */
    private static void use(LongUnaryOperator[] made, int first) {
        try {
            for (int turn = first;; turn++) {
                long end = System.nanoTime() + 20_000_000;
                for (int i = 0; System.nanoTime() < end; i++)
                    sink += made[(turn / 50 * 200 + i % 200) % made.length].applyAsLong(i);
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
