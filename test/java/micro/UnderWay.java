package micro;

import java.io.IOException;

/**
 * Calls that are under way when a recorder attaches: main and first; second begins later.  Each line on the standard
 * input ends one of the two.
 */
public class UnderWay {
    private static long sum;

    private static void step(int n) {
        for (int i = 0; i < n; i++) {
            sum += i ^ sum >>> 3;
        }
    }

    private static boolean hasLine() throws IOException {
        if (System.in.available() == 0) {
            return false;
        }
        while (System.in.read() != '\n') {
            step(1);
        }
        return true;
    }

    private static void first() throws IOException {
        while (!hasLine()) {
            step(400000);
        }
    }

    private static void second() throws IOException {
        while (!hasLine()) {
            step(400000);
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.out.println("ready");
        first();
        System.out.println("second");
        second();
        System.out.println("done " + (sum == 0));
    }
}
