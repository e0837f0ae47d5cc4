package target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntUnaryOperator;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.Recording;

/**
 * A program whose output is always the same: START and END, on both streams.  It commits events of its own, one of
 * them with a base class of its own.  JFR records if the second argument is 'on'; the program ends when the file exists
 * that is its first argument, or after so many seconds as the third one says.
 */
public final class Quiet {
    private static final class Direct extends Event {
        int sum;

        int add(int n) {
            for (int i = 0; i < n; i++)
                sum += i;
            return sum;
        }
    }

    private abstract static class Base extends Event {
        int product = 1;

        int multiply(int n) {
            for (int i = 1; i < n; i++)
                product *= i;
            return product;
        }
    }

    private static final class Indirect extends Base {
        int both(IntUnaryOperator change, int n) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += change.applyAsInt(multiply(i));
            return sum;
        }
    }

    public static void main(String[] args) throws Exception {
        boolean records = args[1].equals("on");
        try (Recording recording = records ? new Recording(Configuration.getConfiguration("default")) : null) {
            if (records)
                recording.start();
            say("START");
            long sum = 0, end = System.nanoTime() + 1_000_000_000L * (args.length > 2 ? Long.parseLong(args[2]) : 600);
            while (!Files.exists(Path.of(args[0])) && System.nanoTime() < end)
                sum += round();
            say(sum == 0 ? "" : "END");
        }
    }

    private static void say(String word) {
        System.out.println(word);
        System.err.println(word);
    }

    private static long round() throws InterruptedException {
        long sum = 1;
        for (int i = 1; i < 50; i++) {
            final int k = i;
            Direct direct = new Direct();
            direct.begin();
            sum += direct.add(i);
            direct.commit();
            Indirect indirect = new Indirect();
            indirect.begin();
            sum += indirect.both(n -> n + k, i);
            indirect.commit();
        }
        Thread.sleep(1);
        return sum;
    }
}
