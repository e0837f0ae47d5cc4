package target;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A service with four faults: a lock that is held while a price is computed, a list that is walked through all of memory,
 * bursts of allocation, and a query that is slow in another process, for which there are two connections.
 *
 * 'Shop database' is that process: it prints 'PORT n'.  'Shop PORT' is the service, with eight clients; it prints 'UP'
 * and goes on until it is killed.  -Dfixed=lock,walk,allocation,query mends the faults that are named.  -Dsteady=true: each
 * request has its time, and each six seconds have the same ones.
 */
public final class Shop {
    private static final List<String> FIXED = Arrays.asList(System.getProperty("fixed", "").split(","));
    private static final int CLIENTS = 8;
    private static final boolean STEADY = Boolean.getBoolean("steady");
    private static final long START = System.nanoTime();
    private static final int REQUEST_MS = 100; /* of a client, from one to the next */

    private Shop() {
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("database")) {
            serveQueries();
            return;
        }
        Prices prices = new Prices();
        Risk risk = new Risk(300_000);
        Orders orders = new Orders(Integer.parseInt(args[0]));
        ExecutorService workers = Executors.newFixedThreadPool(CLIENTS);
        for (int i = 0; i < CLIENTS; i++) {
            int seed = i;
            Thread client = new Thread(() -> ask(workers, prices, risk, orders, seed), "client-" + i);
            client.start();
        }
        Thread exporter = new Thread(Shop::exportAgain, "exporter");
        exporter.start();
        System.out.println("UP");
    }

    /** Requests one after the other, with a rest after each. */
    private static void ask(ExecutorService workers, Prices prices, Risk risk, Orders orders, int seed) {
        Random steady = new Random();
        try {
            for (int n = 0;; n++) {
                if (n % (6000 / REQUEST_MS) == 0)
                    steady.setSeed(seed);
                int kind = STEADY ? steady.nextInt(10) : ThreadLocalRandom.current().nextInt(10);
                waitUntil((long) n * REQUEST_MS + seed * REQUEST_MS / CLIENTS);
                workers.submit(() -> kind < 6 ? prices.quote() : kind < 8 ? risk.exposure() : orders.ofCustomer()).get();
                if (!STEADY)
                    Thread.sleep(20);
            }
        } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    /** In milliseconds since the start, where each request has its time. */
    private static void waitUntil(long milliseconds) throws InterruptedException {
        long left = milliseconds - (System.nanoTime() - START) / 1_000_000;
        if (STEADY && left > 0)
            Thread.sleep(left);
    }

    /** Fault 1: others wait for the monitor until a price that is not in the cache has been computed. */
    private static final class Prices {
        private final Map<Integer, Long> cache = new LinkedHashMap<>();
        private final Map<Integer, Long> fixed = new ConcurrentHashMap<>();
        private final AtomicInteger next = new AtomicInteger();

        long quote() throws GeneralSecurityException, InterruptedException {
            int symbol = STEADY ? next.getAndIncrement() : ThreadLocalRandom.current().nextInt(50_000);
            if (FIXED.contains("lock")) {
                Long known = fixed.get(symbol);
                if (known == null)
                    fixed.put(symbol, known = compute(symbol));
                return known;
            }
            synchronized (cache) {
                Long known = cache.get(symbol);
                if (known == null)
                    cache.put(symbol, known = compute(symbol));
                return known;
            }
        }

        private static long compute(int symbol) throws GeneralSecurityException, InterruptedException {
            byte[] bytes = { (byte) symbol, (byte) (symbol >> 8) };
            for (int i = 0; i < 20; i++)
                bytes = MessageDigest.getInstance("SHA-256").digest(bytes);
            Thread.sleep(15); /* the feed of prices */
            return bytes[0];
        }
    }

    /** Fault 2: a list in an order that has nothing to do with where its elements are. */
    private static final class Risk {
        private static final class Position {
            private final double value;
            private Position next;
            private final long[] details = new long[4];

            Position(double value) {
                this.value = value;
            }
        }

        private final Position head;
        private final double[] values;

        Risk(int n) {
            List<Position> all = new ArrayList<>();
            values = new double[n / 100];
            for (int i = 0; i < n; i++)
                all.add(new Position(i));
            Collections.shuffle(all, new Random(42));
            for (int i = 0; i + 1 < n; i++)
                all.get(i).next = all.get(i + 1);
            head = all.get(0);
        }

        long exposure() {
            double sum = 0;
            if (FIXED.contains("walk")) {
                for (double value : values)
                    sum += value;
                return (long) sum;
            }
            for (Position p = head; p != null; p = p.next)
                sum += p.value + p.details.length;
            return (long) sum;
        }
    }

    /** Fault 3: all of the catalogue at once, again and again. */
    private static void exportAgain() {
        try {
            for (int n = 0;; n++) {
                waitUntil(n * 1500L);
                if (export() == 0)
                    System.out.println("an empty catalogue");
                if (!STEADY)
                    Thread.sleep(1500);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int export() {
        List<Map<String, String>> items = new ArrayList<>();
        int n = FIXED.contains("allocation") ? 10 : 40_000;
        for (int i = 0; i < n; i++) {
            Map<String, String> item = new HashMap<>();
            item.put("name", "item-" + i);
            item.put("text", ("a description of item " + i + " ").repeat(20));
            items.add(item);
        }
        return items.size();
    }

    /** Fault 4: the answer takes long, and there are two connections for all. */
    private static final class Orders {
        private final BlockingQueue<Socket> pool = new ArrayBlockingQueue<>(CLIENTS);

        Orders(int port) throws IOException {
            for (int i = 0; i < (FIXED.contains("query") ? CLIENTS : 2); i++)
                pool.add(new Socket(InetAddress.getLoopbackAddress(), port));
        }

        long ofCustomer() throws IOException, InterruptedException {
            Socket connection = pool.take();
            try {
                DataOutputStream out = new DataOutputStream(connection.getOutputStream());
                out.writeInt(FIXED.contains("query") ? 0 : 60);
                return new DataInputStream(connection.getInputStream()).readInt();
            } finally {
                pool.add(connection);
            }
        }
    }

    /** A query is the milliseconds that it takes. */
    private static void serveQueries() throws IOException {
        try (ServerSocket server = new ServerSocket(0, CLIENTS, InetAddress.getLoopbackAddress())) {
            System.out.println("PORT " + server.getLocalPort());
            for (;;) {
                Socket connection = server.accept();
                new Thread(() -> answer(connection)).start();
            }
        }
    }

    private static void answer(Socket connection) {
        try (connection) {
            DataInputStream in = new DataInputStream(connection.getInputStream());
            DataOutputStream out = new DataOutputStream(connection.getOutputStream());
            for (;;) {
                int milliseconds = in.readInt();
                Thread.sleep(milliseconds);
                out.writeInt(milliseconds);
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt(); /* the service has ended */
        }
    }
}
