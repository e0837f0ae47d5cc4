package micro;

import java.io.IOException;

/**
 * A hot loop that goes on until there is a line on the standard input; half of the time it calls another class.
 */
public class LongLoop {
    private static class Part {
        static long work(long x, int n) {
            for (int i = 0; i < n; i++) {
                x = next(x) ^ x >>> 9;
            }
            return x;
        }
    }

    private static long next(long x) {
        return x * 6364136223846793005L + 1442695040888963407L;
    }

    public static void main(String[] arguments) throws IOException {
        long x = 1;
        System.out.println("ready");
        while (System.in.available() == 0) {
            for (int i = 0; i < 10000000; i++) {
                x = next(x) ^ x >>> 7;
            }
            x = Part.work(x, 10000000);
        }
        System.out.println("done " + (x == 0));
    }
}
