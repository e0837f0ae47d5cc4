package target;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/** Calls that differ by the value of an argument; prints how many there were: "METHOD VALUE CALLS". */
public final class Values {
    enum Kind {
        READ,
        WRITE {
            @Override
            public String toString() {
                return "not its name";
            }
        }
    }

    interface HasUri {
        default String getUri() {
            return "/default";
        }
    }

    static final class Request implements HasUri {
        private final String uri;

        Request(String uri) {
            this.uri = uri;
        }

        @Override
        public String getUri() {
            if (uri.equals("/throws"))
                throw new IllegalStateException(uri);
            return uri;
        }
    }

    private static final Map<String, Integer> counts = new TreeMap<>();
    static volatile long sink;

    private static synchronized void count(String method, Object value) {
        counts.merge(method + " " + value, 1, Integer::sum);
    }

    private final String name;

    Values(String name) {
        this.name = name;
    }

    String getName() {
        return name;
    }

    /** By its argument's URI; one of them calls it again with another. */
    long handle(Object request, String expected) {
        count("handle", expected);
        if (expected.equals("/forward"))
            return handle(new Request("/target"), "/target");
        if (expected.equals("/fails"))
            throw new IllegalArgumentException();
        return sink++;
    }

    /** By a number behind others that take two variables each. */
    static long size(double scale, long unused, int bytes) {
        count("size", bytes);
        return sink += bytes;
    }

    static long kind(Kind kind) {
        count("kind", kind == null ? "null" : kind.name());
        return sink++;
    }

    /** More values than are told apart. */
    static long many(long i) {
        count("many", i < 1000 ? i : "(other)");
        return sink++;
    }

    static long text(String text) {
        count("text", text.length() > 200 ? text.substring(0, 200) : text);
        return sink++;
    }

    /** By the object itself. */
    long visit() {
        count("visit", name);
        return sink++;
    }

    private static void handleAll(Values values) {
        for (int i = 0; i < 60; i++) {
            values.handle(new Request(i % 3 == 0 ? "/a" : "/b"), i % 3 == 0 ? "/a" : "/b");
            values.handle(new Request("/forward"), "/forward");
        }
        values.handle(new Request("/throws"), "(exception)");
        values.handle(new HasUri() {}, "/default");
        values.handle("no request", "(no such method)");
        values.handle(null, "null");
        try {
            values.handle(new Request("/fails"), "/fails");
        } catch (IllegalArgumentException e) {
            sink++;
        }
    }

    /** In a thread that may leave its carrier in the middle of a call. */
    long sleep(Object request, String expected) {
        count("sleep", expected);
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return sink++;
    }

    /** Virtual threads where the JVM has them. */
    private static Thread start(Runnable task) throws ReflectiveOperationException {
        if (Runtime.version().feature() < 21) {
            Thread thread = new Thread(task);
            thread.start();
            return thread;
        }
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private static void sleepAll(Values values) throws Exception {
        CountDownLatch done = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            String uri = i % 4 == 0 ? "/long" : "/short";
            start(() -> {
                for (int k = 0; k < 5; k++)
                    values.sleep(new Request(uri), uri);
                done.countDown();
            });
        }
        done.await();
    }

    public static void main(String[] args) throws Exception {
        Values values = new Values("first");
        handleAll(values);
        sleepAll(values);
        for (int i = 0; i < 90; i++) {
            size(0.5, 1, i % 3 == 0 ? -7 : 4096);
            kind(i % 2 == 0 ? Kind.READ : i % 4 == 1 ? Kind.WRITE : null);
            text(i % 2 == 0 ? "\u001b[31m<b>\"a\",b" : "long".repeat(100));
            (i % 5 == 0 ? values : new Values("other")).visit();
        }
        for (int i = 0; i < 1100; i++)
            many(i);
        counts.forEach((what, n) -> System.out.println(what + " " + n));
    }
}
