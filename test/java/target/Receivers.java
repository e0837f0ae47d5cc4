package target;

/**
 * Receivers whose class a caller tells: Receivers ROUNDS. The call in at() is of three classes, but of one in each context
 * of two levels; that in both() is of two in each.
 */
final class Receivers {
    private interface Shape {
        long area();
    }

    private record Square(long side) implements Shape {
        @Override
        public long area() {
            return side * side;
        }
    }

    private record Circle(long radius) implements Shape {
        @Override
        public long area() {
            return 3 * radius * radius;
        }
    }

    private record Line(long length) implements Shape {
        @Override
        public long area() {
            return 0;
        }
    }

    private Receivers() {}

    private static long at(Shape shape) {
        return shape.area();
    }

    private static long between(Shape shape) {
        return at(shape);
    }

    private static long square(long i) {
        return at(new Square(i));
    }

    private static long circle(long i) {
        return at(new Circle(i));
    }

    private static long farSquare(long i) {
        return between(new Square(i));
    }

    private static long farLine(long i) {
        return between(new Line(i));
    }

    private static long both(long i) {
        Shape shape = i % 2 == 0 ? new Square(i) : new Line(i);
        return shape.area();
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += square(i) + circle(i) + farSquare(i) + farLine(i) + both(i);
        }
        System.err.println("sum " + sum);
    }
}
