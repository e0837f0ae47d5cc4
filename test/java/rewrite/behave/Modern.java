import java.util.function.IntUnaryOperator;

/** What is rewritten, for the Java of today. */
class Modern {
    static int all() {
        int base = 3;
        IntUnaryOperator add = i -> i + base;
        IntUnaryOperator fail = i -> i / (i - i);
        int sum = apply(add, 1) + apply(add, 2);
        try {
            sum += apply(fail, 1);
        } catch (ArithmeticException e) {
            sum += ("caught " + sum).length();
        }
        return sum + kind(sum) + new Point(1, 2).hashCode() % 2;
    }

    static int apply(IntUnaryOperator f, int i) {
        return f.applyAsInt(i);
    }

    static int kind(Object o) {
        return o instanceof Integer i && i > 0 ? 1 : 0;
    }

    record Point(int x, int y) {}
}
