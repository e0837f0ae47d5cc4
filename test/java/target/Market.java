package target;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A web service with eight faults, a kind of request each: 'Market serve FAULT,...' has these and the other requests without
 * theirs, 'all' has all, 'none' none.  Serves until it is killed what 'Market load FOLDER' asks from a process of its own,
 * which is the service's database, too; each finds the other's port in the folder.  Needs Java 8 only.
 */
public final class Market {
    private static final String[] PATHS = { "basket", "audit", "report", "search", "dates", "payment", "mail", "copy" };

    private final Set<String> faults;

    private Market(Set<String> faults) {
        this.faults = faults;
    }

    public static void main(String[] args) throws Exception {
        File folder = new File(args[1]);
        if (args[0].equals("load")) {
            tell(new File(folder, "database"), Database.start());
            Load.run(ask(new File(folder, "service")));
            return;
        }
        String faults = args[2];
        Database.port = ask(new File(folder, "database"));
        new Market(new HashSet<>(Arrays.asList(faults.equals("all") ? PATHS : faults.split(",")))).serve(folder);
    }

    private static void tell(File file, int port) throws IOException {
        File unnamed = new File(file + ".new");
        Files.write(unnamed.toPath(), Integer.toString(port).getBytes(StandardCharsets.US_ASCII));
        if (!unnamed.renameTo(file))
            throw new IOException("cannot rename " + unnamed);
    }

    private static int ask(File file) throws Exception {
        while (!file.exists())
            Thread.sleep(50);
        return Integer.parseInt(new String(Files.readAllBytes(file.toPath()), StandardCharsets.US_ASCII));
    }

    private void serve(File folder) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.setExecutor(Executors.newFixedThreadPool(16));
        add(server, "basket", new Baskets());
        add(server, "audit", new AuditLog());
        add(server, "report", new SalesReport());
        add(server, "search", new Catalogue());
        add(server, "dates", new Calendar());
        add(server, "payment", new Payments());
        add(server, "mail", new Mailer());
        add(server, "copy", new Snapshots());
        server.start();
        tell(new File(folder, "service"), server.getAddress().getPort());
    }

    /** One kind of request: what it returns is the answer's length. */
    private interface Endpoint {
        long handle(boolean isFaulty) throws Exception;
    }

    private void add(HttpServer server, String path, Endpoint endpoint) {
        boolean isFaulty = faults.contains(path);
        server.createContext("/" + path, exchange -> answer(exchange, endpoint, isFaulty));
    }

    private static void answer(HttpExchange exchange, Endpoint endpoint, boolean isFaulty) throws IOException {
        byte[] body;
        try {
            body = Long.toString(endpoint.handle(isFaulty)).getBytes(StandardCharsets.US_ASCII);
        } catch (Exception e) {
            e.printStackTrace();
            body = new byte[0];
        }
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /** Answers one number for each, after two milliseconds. */
    private static final class Database {
        private static int port;

        static int start() throws IOException {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Thread accepting = new Thread(() -> accept(server), "database");
            accepting.start();
            return server.getLocalPort();
        }

        private static void accept(ServerSocket server) {
            try {
                for (;;) {
                    Socket socket = server.accept();
                    new Thread(() -> converse(socket), "database-connection").start();
                }
            } catch (IOException e) {
                e.printStackTrace();
            }
        }

        private static void converse(Socket socket) {
            try (DataInputStream in = new DataInputStream(socket.getInputStream());
                 DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
                for (;;) {
                    int n = in.readInt();
                    Thread.sleep(2);
                    out.writeInt(n * 7);
                }
            } catch (IOException | InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Asks the database for each item of a basket, in place of once for all. */
    private static final class Baskets implements Endpoint {
        private final ThreadLocal<Socket> connections = ThreadLocal.withInitial(Baskets::connect);

        private static Socket connect() {
            try {
                return new Socket(InetAddress.getLoopbackAddress(), Database.port);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public long handle(boolean isFaulty) throws Exception {
            long sum = 0;
            for (int item = 0; item < (isFaulty ? 20 : 1); item++)
                sum += price(item);
            return sum;
        }

        private int price(int item) throws IOException {
            Socket socket = connections.get();
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            out.writeInt(item);
            out.flush();
            return new DataInputStream(socket.getInputStream()).readInt();
        }
    }

    /** Writes a line byte by byte. */
    private static final class AuditLog implements Endpoint {
        private final File file;

        AuditLog() throws IOException {
            file = File.createTempFile("audit", ".log");
            file.deleteOnExit();
        }

        @Override
        public long handle(boolean isFaulty) throws Exception {
            try (OutputStream file = new FileOutputStream(this.file);
                 OutputStream out = isFaulty ? file : new BufferedOutputStream(file)) {
                return append(out);
            }
        }

        private static long append(OutputStream out) throws IOException {
            byte[] line = "who did what, and when\n".getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 100; i++)
                for (byte b : line)
                    out.write(b);
            return line.length;
        }
    }

    /** Makes a text longer and longer. */
    private static final class SalesReport implements Endpoint {
        @Override
        public long handle(boolean isFaulty) {
            return isFaulty ? concatenated() : built();
        }

        private static long concatenated() {
            String text = "";
            for (int i = 0; i < 1200; i++)
                text += "line " + i + "\n";
            return text.length();
        }

        private static long built() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 1200; i++)
                text.append("line ").append(i).append('\n');
            return text.length();
        }
    }

    /** Looks for each word in a list. */
    private static final class Catalogue implements Endpoint {
        private final List<String> list = new ArrayList<>();
        private final Set<String> set = new HashSet<>();

        Catalogue() {
            for (int i = 0; i < 5000; i++)
                list.add("article " + i);
            set.addAll(list);
        }

        @Override
        public long handle(boolean isFaulty) {
            return isFaulty ? found() : foundInSet();
        }

        private long found() {
            long n = 0;
            for (int i = 0; i < 1200; i++)
                n += list.contains("article " + i * 4) ? 1 : 0;
            return n;
        }

        private long foundInSet() {
            long n = 0;
            for (int i = 0; i < 1200; i++)
                n += set.contains("article " + i * 4) ? 1 : 0;
            return n;
        }
    }

    /** Makes a format for each date. */
    private static final class Calendar implements Endpoint {
        private static final String PATTERN = "yyyy-MM-dd";
        private static final ThreadLocal<SimpleDateFormat> KEPT =
            ThreadLocal.withInitial(() -> new SimpleDateFormat(PATTERN, Locale.ROOT));

        @Override
        public long handle(boolean isFaulty) {
            long length = 0;
            for (int i = 0; i < 5000; i++)
                length += (isFaulty ? formatted(i) : KEPT.get().format(new Date(i * 1000L))).length();
            return length;
        }

        private static String formatted(int i) {
            return new SimpleDateFormat(PATTERN, Locale.ROOT).format(new Date(i * 1000L));
        }
    }

    /** Asks again and again whether it is done. */
    private static final class Payments implements Endpoint {
        private final AtomicLong next = new AtomicLong();

        @Override
        public long handle(boolean isFaulty) throws Exception {
            long done = System.nanoTime() + 1_000_000;
            if (isFaulty)
                await(done);
            return next.incrementAndGet();
        }

        private static void await(long done) throws InterruptedException {
            do
                Thread.sleep(50);
            while (System.nanoTime() < done);
        }
    }

    /** A thread for each mail. */
    private static final class Mailer implements Endpoint {
        private final ExecutorService pool = Executors.newFixedThreadPool(4);

        @Override
        public long handle(boolean isFaulty) throws Exception {
            AtomicLong sent = new AtomicLong();
            for (int i = 0; i < 100; i++)
                if (isFaulty)
                    sendInThread(sent);
                else
                    pool.submit(sent::incrementAndGet).get();
            return sent.get();
        }

        private static void sendInThread(AtomicLong sent) throws InterruptedException {
            Thread thread = new Thread(sent::incrementAndGet, "mail");
            thread.start();
            thread.join();
        }
    }

    /** Copies objects by writing and reading them. */
    private static final class Snapshots implements Endpoint {
        private static final class Line implements Serializable {
            private static final long serialVersionUID = 1;
            private final String name;
            private final int amount;

            Line(String name, int amount) {
                this.name = name;
                this.amount = amount;
            }
        }

        private final ArrayList<Line> lines = new ArrayList<>();

        Snapshots() {
            for (int i = 0; i < 4000; i++)
                lines.add(new Line("line " + i, i));
        }

        @Override
        public long handle(boolean isFaulty) throws Exception {
            List<Line> copy = isFaulty ? deepCopy(lines) : new ArrayList<>(lines);
            return copy.size() + copy.get(0).name.length() + copy.get(0).amount;
        }

        @SuppressWarnings("unchecked")
        private static List<Line> deepCopy(List<Line> lines) throws Exception {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(lines);
            }
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                return (List<Line>) in.readObject();
            }
        }
    }

    /** Two clients for each kind of request, each with a pause after each answer. */
    private static final class Load {
        static void run(int port) {
            for (String path : PATHS)
                for (int i = 0; i < 2; i++)
                    new Thread(() -> ask(port, path), path).start();
        }

        private static void ask(int port, String path) {
            byte[] part = new byte[4096];
            try {
                for (;;) {
                    try (InputStream in = new URL("http://127.0.0.1:" + port + "/" + path).openStream()) {
                        for (int n = 0; n >= 0;)
                            n = in.read(part);
                    }
                    Thread.sleep(10);
                }
            } catch (IOException | InterruptedException e) {
                System.exit(0);
            }
        }
    }
}
