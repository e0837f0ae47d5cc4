package bench;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Small programs without a fault, in the Java of release 8: 'Healthy KIND' goes on until it is killed, and prints 'UP'
 * when it has begun.  Of 'server' the clients are another process: it prints 'PORT n' first, and they are 'Healthy
 * clients n'.
 */
public final class Healthy {
    static volatile long sink;

    private interface Kind {
        void run() throws Exception;
    }

    private Healthy() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Kind> kinds = new HashMap<>();
        kinds.put("indexer", () -> new Indexer().run());
        kinds.put("server", Server::run);
        kinds.put("clients", () -> Clients.run(Integer.parseInt(args[1])));
        kinds.put("numbers", Numbers::run);
        kinds.put("cache", Cached::run);
        kinds.put("pipeline", Pipeline::run);
        kinds.put("documents", Documents::run);
        kinds.put("timers", Timers::run);
        kinds.put("sorter", Sorter::run);
        kinds.get(args[0]).run();
    }

    private static void up() {
        System.out.println("UP");
    }

    /* ---- words of texts and the documents that have them ---- */

    private static final class Indexer {
        private static final int DOCUMENTS = 2000;
        private final Random random = new Random(1);
        private final Map<String, List<Integer>> documents = new HashMap<>();
        private final StringBuilder word = new StringBuilder();

        void run() {
            up();
            for (;;) {
                documents.clear();
                for (int i = 0; i < DOCUMENTS; i++)
                    add(text(), i);
                for (int i = 0; i < 200; i++)
                    sink += find(word(i), word(i + 1)).size();
            }
        }

        private static String word(int i) {
            return "w" + Integer.toString(i * 7919 % 5000, 36);
        }

        private String text() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 100; i++)
                text.append(word(random.nextInt(5000))).append(i % 10 == 9 ? ". " : " ");
            return text.toString();
        }

        private void add(String text, int document) {
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (Character.isLetterOrDigit(c)) {
                    word.append(Character.toLowerCase(c));
                } else if (word.length() > 0) {
                    addWord(word.toString(), document);
                    word.setLength(0);
                }
            }
        }

        private void addWord(String found, int document) {
            List<Integer> list = documents.computeIfAbsent(found, key -> new ArrayList<>());
            if (list.isEmpty() || list.get(list.size() - 1) != document)
                list.add(document);
        }

        private List<Integer> find(String one, String two) {
            List<Integer> found = new ArrayList<>(documents.getOrDefault(one, Collections.emptyList()));
            found.addAll(documents.getOrDefault(two, Collections.emptyList()));
            Collections.sort(found);
            return found;
        }
    }

    /* ---- requests of 12 clients for 12 threads ---- */

    private static final class Server {
        private static final Map<Integer, String> NAMES = new ConcurrentHashMap<>();

        static void run() throws IOException {
            ExecutorService pool = Executors.newFixedThreadPool(12);
            try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
                System.out.println("PORT " + server.getLocalPort());
                for (int n = 0;; n++) {
                    Socket socket = server.accept();
                    if (n == 0)
                        up();
                    pool.execute(() -> serve(socket));
                }
            }
        }

        private static void serve(Socket socket) {
            try (DataInputStream in = new DataInputStream(socket.getInputStream());
                 DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
                for (;;) {
                    out.writeUTF(answer(in.readUTF()));
                    out.flush();
                }
            } catch (IOException e) {
                sink++;
            }
        }

        private static String answer(String request) {
            long sum = 0;
            StringBuilder text = new StringBuilder(request);
            for (int i = 0; i < 300; i++) {
                String name = NAMES.computeIfAbsent((request.hashCode() + i) & 1023, key -> "name-" + key);
                sum = sum * 31 + name.hashCode();
                if (i % 10 == 0)
                    text.append(name).append(',');
            }
            return text.append(sum).toString();
        }
    }

    private static final class Clients {
        static void run(int port) {
            for (int i = 0; i < 12; i++)
                new Thread(() -> ask(port), "client-" + i).start();
            up();
        }

        private static void ask(int port) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                DataInputStream in = new DataInputStream(socket.getInputStream());
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                for (int n = 0;; n++) {
                    out.writeUTF("request " + n % 100);
                    sink += in.readUTF().length();
                    Thread.sleep(ThreadLocalRandom.current().nextInt(20));
                }
            } catch (IOException | InterruptedException e) {
                System.exit(1);
            }
        }
    }

    /* ---- a batch job of numbers ---- */

    private static final class Numbers {
        private static final int SIZE = 160;

        static void run() {
            double[][] a = matrix(1);
            double[][] b = matrix(2);
            up();
            for (;;) {
                double[][] product = multiply(a, b);
                sink += (long) (sum(product) + primes(100_000));
                sink += IntStream.range(0, 200_000).parallel().filter(i -> (i & 7) == 3).mapToLong(i -> i * 3L).sum();
            }
        }

        private static double[][] matrix(int seed) {
            double[][] m = new double[SIZE][SIZE];
            for (double[] row : m)
                Arrays.setAll(row, i -> (i * seed) % 17);
            return m;
        }

        private static double[][] multiply(double[][] a, double[][] b) {
            double[][] product = new double[SIZE][SIZE];
            for (int i = 0; i < SIZE; i++)
                for (int k = 0; k < SIZE; k++)
                    for (int j = 0; j < SIZE; j++)
                        product[i][j] += a[i][k] * b[k][j];
            return product;
        }

        private static double sum(double[][] m) {
            double sum = 0;
            for (double[] row : m)
                for (double x : row)
                    sum += x;
            return sum;
        }

        private static int primes(int below) {
            boolean[] composite = new boolean[below];
            int n = 0;
            for (int i = 2; i < below; i++) {
                n += composite[i] ? 0 : 1;
                for (long j = (long) i * i; !composite[i] && j < below; j += i)
                    composite[(int) j] = true;
            }
            return n;
        }
    }

    /* ---- a cache of 16 parts, each with its lock, which is soon full ---- */

    private static final class Cached {
        private static final int PARTS = 16;
        private final Map<Key, byte[]> entries = new LinkedHashMap<Key, byte[]>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Key, byte[]> eldest) {
                return size() > 1000;
            }
        };

        private static final class Key {
            private final String name;
            private final int version;

            Key(String name, int version) {
                this.name = name;
                this.version = version;
            }

            @Override
            public boolean equals(Object other) {
                return other instanceof Key && ((Key) other).version == version && ((Key) other).name.equals(name);
            }

            @Override
            public int hashCode() {
                return name.hashCode() * 31 + version;
            }
        }

        static void run() {
            Cached[] parts = new Cached[PARTS];
            Arrays.setAll(parts, i -> new Cached());
            for (int i = 0; i < 4; i++)
                new Thread(() -> use(parts), "user-" + i).start();
            up();
        }

        private static void use(Cached[] parts) {
            try {
                for (;;) {
                    for (int i = 0; i < 3000; i++) {
                        double skewed = Math.pow(ThreadLocalRandom.current().nextDouble(), 3);
                        Key key = new Key("item-" + (int) (skewed * 40_000), i & 1);
                        sink += parts[(key.hashCode() >>> 3 & 0x7fffffff) % PARTS].get(key).length;
                    }
                    Thread.sleep(5);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized byte[] get(Key key) {
            byte[] value = entries.get(key);
            if (value == null)
                entries.put(key, value = made(key));
            return value;
        }

        private static byte[] made(Key key) {
            byte[] value = new byte[300];
            for (int i = 0; i < value.length; i++)
                value[i] = (byte) (key.version + i * 7);
            return value;
        }
    }

    /* ---- stages with queues between them ---- */

    private static final class Pipeline {
        static void run() {
            BlockingQueue<String> lines = new ArrayBlockingQueue<>(100);
            BlockingQueue<long[]> records = new ArrayBlockingQueue<>(100);
            new Thread(() -> produce(lines), "reader").start();
            for (int i = 0; i < 2; i++)
                new Thread(() -> parse(lines, records), "parser-" + i).start();
            new Thread(() -> write(records), "writer").start();
            up();
        }

        private static void produce(BlockingQueue<String> lines) {
            try {
                for (int n = 0;; n++) {
                    lines.put(n + ";" + n * 3L + ";" + (n ^ 77) + ";" + n % 13);
                    if (n % 200 == 0)
                        Thread.sleep(2);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static void parse(BlockingQueue<String> lines, BlockingQueue<long[]> records) {
            try {
                for (;;)
                    records.put(fields(lines.take()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static long[] fields(String line) {
            long[] fields = new long[4];
            int n = 0;
            for (int i = 0; i < line.length(); i++)
                if (line.charAt(i) == ';')
                    n++;
                else
                    fields[n] = fields[n] * 10 + line.charAt(i) - '0';
            return fields;
        }

        private static void write(BlockingQueue<long[]> records) {
            try {
                for (;;)
                    for (long field : records.take())
                        sink = sink * 31 + field;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /* ---- documents that are written as text and read again ---- */

    private static final class Documents {
        static void run() throws InterruptedException, ExecutionException {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            up();
            for (;;) {
                List<Future<Integer>> all = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    int n = i;
                    all.add(pool.submit(() -> read(written(n)).size()));
                }
                for (Future<Integer> one : all)
                    sink += one.get();
                Thread.sleep(10);
            }
        }

        private static String written(int n) {
            StringBuilder out = new StringBuilder("{");
            for (int i = 0; i < 500; i++) {
                if (i > 0)
                    out.append(',');
                out.append('"').append("field").append(i).append("\":\"").append(n * i).append('"');
            }
            return out.append('}').toString();
        }

        private static Map<String, String> read(String text) {
            Map<String, String> fields = new HashMap<>();
            for (int i = 1; i < text.length() - 1;) {
                int endOfKey = text.indexOf('"', i + 1);
                int endOfValue = text.indexOf('"', endOfKey + 3);
                fields.put(text.substring(i + 1, endOfKey), text.substring(endOfKey + 3, endOfValue));
                i = endOfValue + 2;
            }
            return fields;
        }
    }

    /* ---- a service that has little to do, but at its time ---- */

    private static final class Timers {
        private static final Map<String, Long> COUNTS = new ConcurrentHashMap<>();

        static void run() throws InterruptedException {
            ScheduledExecutorService timers = Executors.newScheduledThreadPool(4);
            for (int i = 0; i < 10; i++) {
                String name = "timer-" + i;
                timers.scheduleAtFixedRate(() -> count(name), i * 10, 50, TimeUnit.MILLISECONDS);
            }
            up();
            for (;;) {
                Thread.sleep(200);
                sink += COUNTS.toString().length();
            }
        }

        private static void count(String name) {
            long sum = 0;
            for (int i = 0; i < 20_000; i++)
                sum += (i ^ sum) % 97;
            COUNTS.merge(name, sum, Long::sum);
        }
    }

    /* ---- lines of a file, sorted and written again ---- */

    private static final class Sorter {
        static void run() throws IOException {
            Path folder = Paths.get(System.getProperty("java.class.path")); /* who starts it removes that */
            Path in = Files.createTempFile(folder, "healthy", ".in");
            Path out = Files.createTempFile(folder, "healthy", ".out");
            Random random = new Random(3);
            try (BufferedWriter writer = Files.newBufferedWriter(in, StandardCharsets.UTF_8)) {
                for (int i = 0; i < 20_000; i++)
                    writer.append("line ").append(Integer.toString(random.nextInt())).append('\n');
            }
            up();
            for (;;)
                sort(in, out);
        }

        private static void sort(Path in, Path out) throws IOException {
            List<String> lines = new ArrayList<>();
            try (BufferedReader reader = Files.newBufferedReader(in, StandardCharsets.UTF_8)) {
                for (String line = reader.readLine(); line != null; line = reader.readLine())
                    lines.add(line);
            }
            Collections.sort(lines);
            try (BufferedWriter writer = Files.newBufferedWriter(out, StandardCharsets.UTF_8)) {
                for (String line : lines)
                    writer.append(line).append('\n');
            }
        }
    }
}
