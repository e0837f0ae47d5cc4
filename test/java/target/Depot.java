package target;

import java.text.FieldPosition;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A service of a warehouse with eight faults, of other kinds than those of Shop: 16 clients ask it one thing after the
 * other, without an end.  Prints 'UP'.
 *
 * -Dfixed=lock,exception,date,split,boxing,hash,leak,pool mends the faults that are named.
 */
public final class Depot {
    private static final List<String> FIXED = Arrays.asList(System.getProperty("fixed", "").split(","));
    private static final int CLIENTS = 16;

    static volatile long sink;

    private Depot() {
    }

    public static void main(String[] args) {
        ExecutorService workers = Executors.newFixedThreadPool(CLIENTS);
        List<Callable<Long>> requests = Arrays.asList(new Rates()::convert, new Orders()::total, new Labels()::print,
            new Import()::read, new Stock()::value, new Shelves()::find, new Sessions()::open, new Carriers()::ask);
        for (int i = 0; i < CLIENTS; i++) {
            int first = i;
            new Thread(() -> ask(workers, requests, first), "client-" + i).start();
        }
        System.out.println("UP");
    }

    /** Each client asks all things in turn, and rests after each. */
    private static void ask(ExecutorService workers, List<Callable<Long>> requests, int first) {
        try {
            for (int n = first;; n++) {
                sink += workers.submit(requests.get(n % requests.size())).get();
                Thread.sleep(40);
            }
        } catch (InterruptedException | ExecutionException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static boolean fixed(String fault) {
        return FIXED.contains(fault);
    }

    /** lock: a map that is read all the time, and also while it is written, has one lock. */
    private static final class Rates {
        private final Map<Integer, Double> known = new HashMap<>();
        private volatile Map<Integer, Double> latest = feed();
        private final ExecutorService readers = Executors.newFixedThreadPool(CLIENTS);

        Rates() {
            Thread refreshing = new Thread(this::refreshAgain, "rates");
            known.putAll(latest);
            refreshing.start();
        }

        private void refreshAgain() {
            try {
                for (;;) {
                    if (fixed("lock")) {
                        Thread.sleep(40);
                        latest = feed();
                    } else {
                        refresh();
                    }
                    Thread.sleep(20);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized void refresh() throws InterruptedException {
            Thread.sleep(40); /* the feed is slow */
            known.putAll(feed());
        }

        private static Map<Integer, Double> feed() {
            Map<Integer, Double> rates = new HashMap<>();
            for (int currency = 0; currency < 100; currency++)
                rates.put(currency, 1 + currency * 0.01);
            return rates;
        }

        /** A request asks for four at once. */
        long convert() throws InterruptedException, ExecutionException {
            List<Callable<Double>> parts = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int currency = i;
                parts.add(() -> fixed("lock") ? latest.get(currency) : rate(currency));
            }
            double sum = 0;
            for (Future<Double> part : readers.invokeAll(parts))
                sum += part.get();
            return (long) sum;
        }

        private synchronized double rate(int currency) {
            return known.get(currency);
        }
    }

    /** exception: it ends a loop. */
    private static final class Orders {
        private final List<List<Integer>> orders = new ArrayList<>();

        Orders() {
            for (int i = 0; i < 3000; i++)
                orders.add(Arrays.asList(i, i + 1, i + 2));
        }

        long total() {
            long sum = 0;
            for (List<Integer> order : orders)
                sum += fixed("exception") ? sum(order) : sumOf(order.iterator());
            return sum;
        }

        private static long sum(List<Integer> lines) {
            long sum = 0;
            for (int line : lines)
                sum += line;
            return sum;
        }

        private static long sumOf(Iterator<Integer> lines) {
            long sum = 0;
            try {
                for (;;)
                    sum += lines.next();
            } catch (NoSuchElementException e) {
                return sum;
            }
        }
    }

    /** date: the format is made for each label. */
    private static final class Labels {
        private static final ThreadLocal<SimpleDateFormat> FORMAT =
            ThreadLocal.withInitial(() -> new SimpleDateFormat("yyyy-MM-dd", Locale.ROOT));

        long print() {
            StringBuffer page = new StringBuffer();
            FieldPosition all = new FieldPosition(0);
            Date date = new Date();
            for (int i = 0; i < (fixed("date") ? 500 : 2500); i++) {
                date.setTime(i * 86_400_000L);
                if (fixed("date"))
                    FORMAT.get().format(date, page, all);
                else
                    page.append(label(date));
            }
            return page.length();
        }

        private static String label(Date date) {
            return new SimpleDateFormat("yyyy-MM-dd", Locale.ROOT).format(date);
        }
    }

    /** split: a regular expression is compiled for each line. */
    private static final class Import {
        private final String[] lines = new String[3000];

        Import() {
            for (int i = 0; i < lines.length; i++)
                lines[i] = "item " + i + " , " + i * 3 + ", a shelf ,12";
        }

        long read() {
            long n = 0;
            for (String line : lines)
                n += fixed("split") ? fields(line) : fieldsOf(line);
            return n;
        }

        private static int fields(String line) {
            int n = 1;
            for (int at = line.indexOf(','); at >= 0; at = line.indexOf(',', at + 1))
                n++;
            return n;
        }

        private static int fieldsOf(String line) {
            return line.split("\\s*,\\s*").length;
        }
    }

    /** boxing: a sum that is an object. */
    private static final class Stock {
        private final long[] values = new long[200_000];

        Stock() {
            Arrays.setAll(values, i -> i * 1000L);
        }

        long value() {
            return fixed("boxing") ? sum() : boxedSum();
        }

        private long sum() {
            long sum = 0;
            for (long value : values)
                sum += value;
            return sum;
        }

        private long boxedSum() {
            Map<String, Long> sums = new HashMap<>();
            for (int i = 0; i < values.length; i++)
                sums.merge(i % 2 == 0 ? "even" : "odd", values[i], Long::sum);
            return sums.get("odd");
        }
    }

    /** hash: most places have the hash code of others. */
    private static final class Shelves {
        private static final class Place {
            private final int row;
            private final int column;

            Place(int row, int column) {
                this.row = row;
                this.column = column;
            }

            @Override
            public boolean equals(Object other) {
                return other instanceof Place && ((Place) other).row == row && ((Place) other).column == column;
            }

            @Override
            public int hashCode() {
                return fixed("hash") ? (row * 31 + column) * 0x9E3779B9 : row + column;
            }
        }

        private final Map<Place, Integer> places = new HashMap<>();

        Shelves() {
            for (int row = 0; row < 100; row++)
                for (int column = 0; column < 100; column++)
                    places.put(new Place(row, column), row * column);
        }

        long find() {
            long sum = 0;
            for (int i = 0; i < 9000; i++)
                sum += places.get(new Place(i % 100, (i * 7) % 100));
            return sum;
        }
    }

    /** leak: a cache that only grows. */
    private static final class Sessions {
        private final Map<Long, byte[]> open = new ConcurrentHashMap<>();
        private final Map<Long, byte[]> latest = new LinkedHashMap<Long, byte[]>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, byte[]> eldest) {
                return size() > 100;
            }
        };

        long open() {
            long id = System.nanoTime();
            byte[] session = begin(id);
            if (!fixed("leak")) {
                open.put(id, session);
                return open.size();
            }
            synchronized (latest) {
                latest.put(id, session);
                return latest.size();
            }
        }

        private static byte[] begin(long id) {
            byte[] session = new byte[200_000];
            session[0] = (byte) id;
            return session;
        }
    }

    /** pool: two connections for 16 threads. */
    private static final class Carriers {
        private final Semaphore connections = new Semaphore(fixed("pool") ? CLIENTS : 2);
        private final ScheduledExecutorService carrier = Executors.newScheduledThreadPool(1);

        long ask() throws InterruptedException, ExecutionException {
            connections.acquire();
            try {
                CompletableFuture<Long> answer = new CompletableFuture<>();
                carrier.schedule(() -> answer.complete(1L), 60, TimeUnit.MILLISECONDS);
                return answer.get();
            } finally {
                connections.release();
            }
        }
    }
}
