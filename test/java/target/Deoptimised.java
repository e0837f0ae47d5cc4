package target;

import java.io.File;

/*
 * Methods whose compiled code HotSpot discards, each for a reason of its own: they are called until C2 has compiled
 * them, then as C2 has not seen them called; four times.
 *
 *     Deoptimised FILE    ends when FILE is there
 */
public class Deoptimised {
    static final int ROUNDS = 50000; /* enough for C2, with -XX:-BackgroundCompilation */

    static class Shape {
        int area() {
            return 1;
        }
    }

    static final class Square extends Shape {
        @Override
        int area() {
            return 4;
        }
    }

    static final class Circle extends Shape {
        @Override
        int area() {
            return 3;
        }
    }

    static int sum;

    /* unstable_if: a branch that was never taken, each time another one. */
    static int storm(int kind) {
        int x = kind;
        if (kind == 1)
            x = x * 7 + sum;
        if (kind == 2)
            x = x * 5 + sum;
        if (kind == 3)
            x = x * 3 + sum;
        if (kind == 4)
            x = x * 9 + sum;
        return x;
    }

    /* null_check: a receiver that was never null. */
    static int isNull(String text) {
        try {
            return text.length();
        } catch (NullPointerException e) {
            return -1;
        }
    }

    /* class_check: a receiver of a class that was never there. */
    static int isOther(Object object) {
        return object.hashCode();
    }

    /* No trap at first: a class with an area() of its own is loaded.  Then the receiver has a new class. */
    static int isLoaded(Shape shape) {
        return shape.area();
    }

    static int steady(int x) {
        return x * 3 + 1;
    }

    static void warm(int most) {
        Shape shape = new Shape();
        for (int i = 0; i < ROUNDS; i++)
            sum += storm(i % (most + 1)) + isNull("text") + isOther("text") + isLoaded(shape) + steady(i);
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 4; i++) {
            warm(i);
            sum += storm(i + 1) + isNull(null) + isOther(Integer.valueOf(i));
            sum += isLoaded(i % 2 == 0 ? new Square() : new Circle());
        }
        warm(4);
        System.out.println("done " + sum);
        while (!new File(arguments[0]).exists())
            Thread.sleep(10);
    }
}
