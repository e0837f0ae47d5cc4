package target;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Faults to be found, each with threads of its own: 'Faulty NAME=STATE...', where STATE is 'fault', 'mended' (the same work
 * done well) or 'never' (a program of the kind that never had the fault).  What is not named does not run.  Prints 'UP'
 * and goes on until it is killed.
 */
public final class Faulty {
    static final String FAULT = "fault";
    static final String MENDED = "mended";

    static volatile long sink;

    private Faulty() {
    }

    /** One round of a fault's work, in one of its threads. */
    private interface Work {
        void round(String state) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        Map<String, Work> works = new TreeMap<>();
        works.put("exceptions", new Parser()::parse);
        works.put("huge", Huge::run);
        works.put("hash", new Index()::fill);
        works.put("regex", new Validator()::validate);
        works.put("format", Labels::print);
        works.put("boxing", Totals::sum);
        works.put("loading", new Plugins()::start);
        works.put("fsync", new Journal()::append);
        works.put("starved", new Orders()::accept);
        works.put("connections", new Connections()::query);
        works.put("holder", new Tariffs()::lookUp);
        works.put("leak", Sessions::open);
        for (String arg : args) {
            String[] parts = arg.split("=");
            boolean isOfMany = parts[0].matches("starved|connections|holder");
            for (int i = 0; i < (isOfMany ? 6 : 1); i++)
                new Thread(() -> repeat(works.get(parts[0]), parts[1]), parts[0] + "-" + i).start();
        }
        System.out.println("UP");
    }

    private static void repeat(Work work, String state) {
        try {
            for (;;) {
                work.round(state);
                Thread.sleep(1);
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    /** Exceptions tell that a word is no number, deep in a recursion. */
    private static final class Parser {
        private static final class NotANumber extends Exception {
            private static final long serialVersionUID = 1;

            NotANumber(String word) {
                super(word);
            }
        }

        void parse(String state) {
            for (int i = 0; i < 200; i++)
                sink += state.equals(FAULT) ? nested(40) : state.equals(MENDED) ? checked(40) : i * 31;
        }

        private long nested(int depth) {
            if (depth > 0)
                return nested(depth - 1) + 1;
            try {
                return number("word" + sink % 10);
            } catch (NotANumber e) {
                return 0;
            }
        }

        private long checked(int depth) {
            return depth > 0 ? checked(depth - 1) + 1 : numberOr("word" + sink % 10, 0);
        }

        private static long number(String word) throws NotANumber {
            if (!Character.isDigit(word.charAt(0)))
                throw new NotANumber(word);
            return word.length();
        }

        private static long numberOr(String word, long otherwise) {
            return Character.isDigit(word.charAt(0)) ? word.length() : otherwise;
        }
    }

    /** A method of 8,000 bytes of bytecode: the compiler copies each 'finally' twice. */
    private static final class Huge {
        static void run(String state) {
            sink += state.equals(FAULT) ? all(3) : state.equals(MENDED) ? split(3) : 1;
        }

        static long all(long x) {
            long y = x;
            try {
                y += x * 3;
            } finally {
                try {
                    y ^= x << 1;
                } finally {
                    try {
                        y += x * 5;
                    } finally {
                        try {
                            y ^= x << 2;
                        } finally {
                            try {
                                y += x * 7;
                            } finally {
                                try {
                                    y ^= x << 3;
                                } finally {
                                    try {
                                        y += x * 9;
                                    } finally {
                                        for (int i = 0; i < 100_000; i++)
                                            y = y * 31 + (y >>> 7) + i + (y ^ x) * 17 - (y >>> 3) + (x | i) * 3;
                                    }
                                }
                            }
                        }
                    }
                }
            }
            return y;
        }

        private static long split(long x) {
            long y = x * 3;
            for (int i = 0; i < 100_000; i++)
                y = step(y, x, i);
            return y;
        }

        private static long step(long y, long x, int i) {
            return y * 31 + (y >>> 7) + i + (y ^ x) * 17 - (y >>> 3) + (x | i) * 3;
        }
    }

    /** Keys of which most have the same hash. */
    private static final class Index {
        private static final class Key {
            private final int number;
            private final boolean isBad;

            Key(int number, boolean isBad) {
                this.number = number;
                this.isBad = isBad;
            }

            @Override
            public boolean equals(Object other) {
                return other instanceof Key && ((Key) other).number == number;
            }

            @Override
            public int hashCode() {
                return isBad ? number & 3 : number * 0x9E3779B9;
            }
        }

        void fill(String state) {
            if (state.equals(FAULT) || state.equals(MENDED))
                sink += count(state.equals(FAULT));
            else
                sink += new int[600].length;
        }

        private static long count(boolean isBad) {
            Map<Key, Integer> index = new HashMap<>();
            for (int i = 0; i < 600; i++)
                index.put(new Key(i, isBad), i);
            return index.size();
        }
    }

    /** A pattern that goes back again and again over a line that it does not match. */
    private static final class Validator {
        private final Pattern bad = Pattern.compile(".*.*.*.*\\.");
        private final Pattern good = Pattern.compile("[\\w\\s]+\\.");

        void validate(String state) {
            if (state.equals(FAULT) || state.equals(MENDED))
                sink += isSentence(state.equals(FAULT) ? bad : good) ? 1 : 0;
            else
                sink += "abcdefgh ijklmnop".indexOf('.');
        }

        private static boolean isSentence(Pattern pattern) {
            Matcher matcher = pattern.matcher("a line of words without its last character " + sink % 10);
            return matcher.matches();
        }
    }

    private static final class Labels {
        static void print(String state) {
            for (int i = 0; i < 1000; i++)
                sink += state.equals(FAULT) ? label(i).length() : state.equals(MENDED) ? joined(i).length() : i;
        }

        private static String label(int i) {
            return String.format("%05d %s %.2f", i, "item", i * 0.5);
        }

        private static String joined(int i) {
            return i + " item " + i / 2;
        }
    }

    /** Numbers as objects in a list, for a sum. */
    private static final class Totals {
        static void sum(String state) {
            sink += state.equals(FAULT) ? boxed() : state.equals(MENDED) ? plain() : 1;
        }

        private static long boxed() {
            List<Long> values = new ArrayList<>();
            for (long i = 0; i < 100_000; i++)
                values.add(i * 1000);
            long sum = 0;
            for (Long value : values)
                sum += value;
            return sum;
        }

        private static long plain() {
            long[] values = new long[100_000];
            for (int i = 0; i < values.length; i++)
                values[i] = i * 1000L;
            long sum = 0;
            for (long value : values)
                sum += value;
            return sum;
        }
    }

    /** A class loader of its own for each request. */
    private static final class Plugins {
        private Class<?> known;

        private static final class Loader extends ClassLoader {
            private Loader() {
                super(Faulty.class.getClassLoader());
            }

            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith(Faulty.class.getName()))
                    return super.loadClass(name, resolve);
                try (InputStream in = Faulty.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    byte[] part = new byte[4096];
                    for (int n = in.read(part); n > 0; n = in.read(part))
                        out.write(part, 0, n);
                    return defineClass(name, out.toByteArray(), 0, out.size());
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }

        void start(String state) throws Exception {
            if (state.equals(FAULT) || known == null)
                known = pluginClass();
            sink += known.getName().length();
        }

        private static Class<?> pluginClass() throws Exception {
            return Class.forName("target.Faulty$Parser", true, new Loader());
        }
    }

    /** Each line is on the disk before the next one. */
    private static final class Journal {
        private FileChannel channel;
        private long next;

        void append(String state) throws IOException {
            if (channel == null) {
                Path path = Files.createTempFile(Path.of(System.getProperty("journal", ".")), "journal", ".tmp");
                channel = FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
            }
            if (!state.equals(FAULT) && !state.equals(MENDED))
                return;
            channel.write(ByteBuffer.allocate(4096), next++ % 1000 * 4096);
            if (state.equals(FAULT))
                channel.force(true);
        }
    }

    /** An order waits for its lines, which are tasks of the same pool: while all threads wait, none works. */
    private static final class Orders {
        private final ExecutorService pool = Executors.newFixedThreadPool(4);
        private final ExecutorService other = Executors.newFixedThreadPool(4);

        void accept(String state) throws Exception {
            pool.submit(() -> state.equals(FAULT) ? order(pool) : state.equals(MENDED) ? order(other) : line()).get();
        }

        private static long order(ExecutorService lines) throws Exception {
            Callable<Long> task = Orders::line;
            Future<Long> one = lines.submit(task);
            Future<Long> two = lines.submit(task);
            return linesOf(one) + linesOf(two);
        }

        private static long linesOf(Future<Long> future) throws Exception {
            try {
                return future.get(200, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                future.cancel(false);
                return 0;
            }
        }

        private static long line() throws InterruptedException {
            Thread.sleep(10);
            return 1;
        }
    }

    /** Two connections for six threads. */
    private static final class Connections {
        private final Semaphore few = new Semaphore(2);
        private final Semaphore many = new Semaphore(8);

        void query(String state) throws InterruptedException {
            Semaphore pool = state.equals(FAULT) ? few : many;
            pool.acquire();
            try {
                Thread.sleep(20);
            } finally {
                pool.release();
            }
        }
    }

    /** One thread asks another server for tariffs while it holds the lock that all need. */
    private static final class Tariffs {
        private final ReentrantLock lock = new ReentrantLock();
        private final Map<Integer, Integer> known = new ConcurrentHashMap<>();
        private final ServerSocket server;

        Tariffs() throws IOException {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        }

        void lookUp(String state) throws Exception {
            if (state.equals(FAULT) && Thread.currentThread().getName().endsWith("0"))
                refresh();
            else if (state.equals(MENDED) && Thread.currentThread().getName().endsWith("0"))
                known.put(1, Gateway.ask(server));
            else
                sink += tariff();
        }

        private int tariff() {
            lock.lock();
            try {
                return known.getOrDefault(1, 0);
            } finally {
                lock.unlock();
            }
        }

        private void refresh() throws Exception {
            lock.lock();
            try {
                known.put(1, Gateway.ask(server));
            } finally {
                lock.unlock();
            }
        }
    }

    private static final class Gateway {
        static int ask(ServerSocket server) throws Exception {
            Thread answering = new Thread(() -> answer(server), "tariff-server");
            answering.start();
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                return socket.getInputStream().read();
            }
        }

        private static void answer(ServerSocket server) {
            try (Socket socket = server.accept()) {
                Thread.sleep(50);
                socket.getOutputStream().write(7);
            } catch (IOException | InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sessions that nobody closes. */
    private static final class Sessions {
        private static final List<byte[]> OPEN = new ArrayList<>();

        static void open(String state) throws InterruptedException {
            for (int i = 0; i < 100; i++) {
                byte[] session = session();
                if (state.equals(FAULT) && i < 4)
                    OPEN.add(session);
                sink += session.length;
            }
            Thread.sleep(4);
        }

        private static byte[] session() {
            return new byte[4000];
        }
    }
}
