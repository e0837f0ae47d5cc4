package target;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntBinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Prints checksums of what the language and the library do, "CHECK part value": the same on each JVM, under each
 * collector, in each mode.  Argument: how much of it, in steps.
 */
public final class Checks {
    private interface Part {
        long run(int n) throws Exception;
    }

    private record Point(int x, String name) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    private static final class Count {
        private long value;

        synchronized void add(long more) {
            value += more;
        }
    }

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
        private final int code;

        Refused(int code, Throwable cause) {
            super("refused " + code, cause);
            this.code = code;
        }
    }

    private Checks() {
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        check("collections", Checks::collections, n);
        check("exceptions", Checks::exceptions, n);
        check("texts", Checks::texts, n);
        check("numbers", Checks::numbers, n);
        check("natives", Checks::natives, n);
        check("threads", Checks::threads, n);
        check("objects", Checks::objects, n);
        check("handles", Checks::handles, n);
        check("garbage", Checks::garbage, n);
        System.out.println("DONE");
    }

    private static void check(String name, Part part, int n) throws Exception {
        System.out.printf("CHECK %s %016x%n", name, part.run(n));
    }

    private static long mix(long sum, long value) {
        return (sum ^ value) * 0x9E3779B97F4A7C15L + (sum >>> 29);
    }

    private static long collections(int n) {
        Random random = new Random(7);
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < n * 40; i++) {
            counts.merge("key " + random.nextInt(n * 5 + 1), 1, Integer::sum);
        }
        long sum = 0;
        for (Map.Entry<String, Integer> entry : new TreeMap<>(counts).entrySet()) {
            sum = mix(sum, entry.getKey().hashCode() * 31L + entry.getValue());
        }
        List<Integer> list = IntStream.range(0, n * 20).map(i -> i * 7919 % 10007).boxed().collect(Collectors.toList());
        list.sort((a, b) -> Integer.compare(b % 101, a % 101));
        for (int each : list) {
            sum = mix(sum, each);
        }
        return sum;
    }

    private static int depth(int n, int[] finallies) throws Refused {
        try {
            if (n == 0) {
                throw new IllegalStateException("at the bottom");
            }
            return depth(n - 1, finallies) + 1;
        } catch (IllegalStateException e) {
            if (n % 3 == 2) {
                throw new Refused(n, e);
            }
            throw e;
        } finally {
            finallies[0]++;
        }
    }

    private static long exceptions(int n) {
        long sum = 0;
        int[] finallies = new int[1];
        for (int i = 0; i < n * 2; i++) {
            try {
                sum = mix(sum, depth(i % 17, finallies));
            } catch (Refused e) {
                sum = mix(sum, e.code + e.getCause().getMessage().length());
            } catch (IllegalStateException e) {
                sum = mix(sum, e.getStackTrace().length > 0 ? 1 : 0);
            }
            int[] small = new int[3];
            try {
                small[i % 5] = i / (i % 4);
                sum = mix(sum, small[i % 5]);
            } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
                sum = mix(sum, e instanceof ArithmeticException ? 1 : 2);
            }
        }
        return mix(sum, finallies[0]);
    }

    private static long texts(int n) {
        long sum = 0;
        Pattern pattern = Pattern.compile("(\\w+)-(\\d+)(?:;|$)");
        for (int i = 0; i < n; i++) {
            String text = "alpha-" + i + ";beta-" + i * 3 + ';' + String.format("%05d:%x", i, i * 31L);
            Matcher matcher = pattern.matcher(text);
            while (matcher.find()) {
                sum = mix(sum, matcher.group(1).hashCode() + Integer.parseInt(matcher.group(2)));
            }
            sum = mix(sum, new StringBuilder(text).reverse().toString().toUpperCase().hashCode());
            sum = switch (i % 4) {
                case 0 -> mix(sum, text.indexOf(':'));
                case 1 -> mix(sum, text.split(";").length);
                default -> sum;
            };
        }
        return sum;
    }

    private static long numbers(int n) {
        BigInteger product = BigInteger.ONE;
        double real = 1;
        for (int i = 1; i <= n * 2; i++) {
            product = product.multiply(BigInteger.valueOf(i % 97 + 1)).mod(BigInteger.TWO.pow(512).subtract(BigInteger.ONE));
            real = StrictMath.sqrt(real * i + StrictMath.sin(i));
        }
        long[][] square = new long[24][24];
        for (int round = 0; round < n / 10 + 1; round++) {
            for (int i = 0; i < 24; i++) {
                for (int j = 0; j < 24; j++) {
                    square[i][j] += (long) i * j ^ square[j][i] >>> 3;
                }
            }
        }
        return mix(mix(product.hashCode(), Double.doubleToLongBits(real)), Arrays.deepHashCode(square));
    }

    private static long natives(int n) throws Exception {
        byte[] data = new byte[n * 50];
        new Random(11).nextBytes(data);
        for (int i = 0; i < data.length; i += 2) {
            data[i] = 42;
        }
        byte[] packed = new byte[data.length * 2 + 64], unpacked = new byte[data.length];
        Deflater deflater = new Deflater();
        deflater.setInput(data);
        deflater.finish();
        int size = deflater.deflate(packed);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(packed, 0, size);
        int back = inflater.inflate(unpacked);
        inflater.end();
        CRC32 crc = new CRC32();
        crc.update(unpacked, 0, back);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(data);
        System.arraycopy(digest, 0, data, 0, Math.min(digest.length, data.length));
        return mix(mix(crc.getValue(), Arrays.equals(data, unpacked) ? 1 : 2), Arrays.hashCode(digest));
    }

    private static long threads(int n) throws Exception {
        Count count = new Count();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> results = new ArrayList<>();
        for (int task = 0; task < 16; task++) {
            int number = task;
            Callable<Long> work = () -> {
                long sum = 0;
                for (int i = 0; i < n * 4; i++) {
                    sum = mix(sum, i * (number + 1L));
                    count.add(i & 7);
                }
                return sum;
            };
            results.add(pool.submit(work));
        }
        long sum = 0;
        for (Future<Long> result : results) {
            sum = mix(sum, result.get());
        }
        pool.shutdown();
        return mix(sum, count.value);
    }

    private static long objects(int n) throws IOException, ClassNotFoundException {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            points.add(new Point(i * i, "p" + i % 13));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(points.toArray());
        }
        long sum = bytes.size();
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            for (Object each : (Object[]) in.readObject()) {
                sum = mix(sum, each instanceof Point p && p.x() % 2 == 0 ? p.name().hashCode() : 5);
            }
        }
        return sum;
    }

    public static int added(int a, int b) {
        return a + b * 3;
    }

    private static long handles(int n) throws Exception {
        MethodHandle handle = MethodHandles.lookup().findStatic(Checks.class, "added",
                MethodType.methodType(int.class, int.class, int.class));
        IntBinaryOperator proxy = (IntBinaryOperator) Proxy.newProxyInstance(Checks.class.getClassLoader(),
                new Class<?>[] {IntBinaryOperator.class}, (self, method, values) -> (int) values[0] ^ (int) values[1]);
        long sum = 0;
        try {
            for (int i = 0; i < n; i++) {
                sum = mix(sum, (int) handle.invokeExact(i, i + 1));
                sum = mix(sum, proxy.applyAsInt(i, 99));
                sum = mix(sum, (int) Checks.class.getMethod("added", int.class, int.class).invoke(null, i, 2));
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    private static long garbage(int n) {
        Object[] kept = new Object[997];
        long sum = 0;
        for (int i = 0; i < n * 200; i++) {
            int[] block = new int[i % 61 + 1];
            block[i % block.length] = i;
            kept[(int) (i * 7919L % kept.length)] = block;
        }
        System.gc();
        for (Object each : kept) {
            sum = mix(sum, each == null ? 3 : Arrays.hashCode((int[]) each));
        }
        return sum;
    }
}
