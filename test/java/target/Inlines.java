package target;

/**
 * Calls and allocations of which it is known what the JIT compilers make: Inlines SECONDS. For the control case start it
 * with -XX:CompileCommand=dontinline,target.Inlines::apart.
 */
final class Inlines {
    private interface Shape {
        long area();
    }

    private static final class Square implements Shape {
        private final long side;

        Square(long side) {
            this.side = side;
        }

        @Override
        public long area() {
            return side * side;
        }
    }

    private static final class Point {
        private final long x;
        private final long y;

        Point(long x, long y) {
            this.x = x;
            this.y = y;
        }
    }

    private static long sink;
    private static Object kept;

    private Inlines() {}

    private static long leaf(long a) {
        return a * 31 + 7;
    }

    private static long loops(long a) {
        long sum = 0;
        for (long i = 0; i < (a & 15); i++) {
            sum += i ^ a;
        }
        return sum;
    }

    private static long apart(long a) {
        return loops(a) + 1;
    }

    private static long never(long a) {
        return a / 3;
    }

    private static long removed(long a) {
        Point point = new Point(a, a + 1);
        return point.x * point.y;
    }

    private static void escapes(long a) {
        kept = new Square(a);
    }

    /* C2 makes the text without a builder. */
    private static void joined(long a) {
        kept = new StringBuilder().append((int) a).append(',').append((char) a).toString();
    }

    private static long run(long n) {
        Shape shape = new Square(n);
        long sum = shape.area();
        for (long i = 0; i < n; i++) {
            sum += leaf(i) + loops(i) + apart(i) + removed(i);
            escapes(i);
            joined(i);
        }
        return n < 0 ? never(n) : sum;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        while (System.nanoTime() < end) {
            sink += run(1000);
        }
        System.out.println(sink != 0 && kept != null);
    }
}
