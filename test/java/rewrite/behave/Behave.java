import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Runs Subject and Modern, rewritten or not, and prints what they return and what the probe counted.
 * Arguments: the list of the rewritten methods (empty when nothing is), and whether to run Modern.
 */
public final class Behave {
    private static List<String> list;

    public static void main(String[] args) throws Exception {
        list = Files.readAllLines(Path.of(args[0]));
        boolean modern = Boolean.parseBoolean(args[1]);
        System.out.println("returned " + Subject.all() + " " + (modern ? Modern.all() : 0));
        print();
        if (list.isEmpty())
            return;

        flags(false);
        clear();
        Subject.all();
        print();
        System.out.println("disarmed: enters " + sum(Probe.enters) + " exits " + sum(Probe.exits) + " unwinds "
            + sum(Probe.unwinds));

        // A flag that is switched while its method runs.
        Subject.runs(Behave::arm);
        System.out.println("armed within: enters " + sum(Probe.enters) + " exits " + sum(Probe.exits));
        Subject.runs(Behave::disarm);
        System.out.println("disarmed within: enters " + sum(Probe.enters) + " exits " + sum(Probe.exits));
        disarm();
        try {
            Subject.runs(Behave::armAndFail);
        } catch (IllegalStateException e) {
            System.out.println("armed within a failing one: unwinds " + sum(Probe.unwinds));
        }
    }

    private static void armAndFail() {
        arm();
        throw new IllegalStateException();
    }

    private static void arm() {
        flags(true);
    }

    private static void disarm() {
        flags(false);
    }

    /** Method TOKEN has flag Flags0.g<TOKEN - 1>. */
    private static void flags(boolean armed) {
        try {
            for (String line : list) {
                int token = Integer.parseInt(line.substring(0, line.indexOf(' ')));
                Class.forName("Flags0").getField("g" + (token - 1)).setInt(null, armed ? token : 0);
            }
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Token 0 is what a disarmed method's probes get. */
    private static int sum(int[] counts) {
        return Arrays.stream(counts).skip(1).sum();
    }

    private static void clear() {
        Arrays.fill(Probe.enters, 0);
        Arrays.fill(Probe.exits, 0);
        Arrays.fill(Probe.unwinds, 0);
    }

    private static void print() {
        TreeMap<String, String> lines = new TreeMap<>();
        for (String line : list) {
            String[] words = line.split(" ");
            int token = Integer.parseInt(words[0]);
            if (Probe.enters[token] + Probe.exits[token] + Probe.unwinds[token] > 0)
                lines.put(words[1] + words[2],
                    Probe.enters[token] + " " + Probe.exits[token] + " " + Probe.unwinds[token]);
        }
        lines.forEach((name, counts) -> System.out.println(name + " " + counts));
    }
}
