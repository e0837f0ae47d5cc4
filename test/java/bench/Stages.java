package bench;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Two versions of a program, for 'mmprof diff': rounds of eight stages in three groups that sort, hash, parse and so on;
 * one stage works longer in one version.  Arguments: rounds (60), and a stage with how many units of work a
 * round of it has, instead of 20: "multiply=22" is 10 % more.  Prints 'RESULT x'.
 */
public final class Stages {
    private static final int UNITS = 20;
    private static final Map<String, Integer> UNITS_OF = new HashMap<>();
    private static long random = 42;

    private static final class Node {
        private Node left, right;
        private int key;
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
        for (int i = 1; i < args.length; i++) {
            String[] parts = args[i].split("=");
            UNITS_OF.put(parts[0], Integer.parseInt(parts[1]));
        }
        long result = 0;
        for (int i = 0; i < rounds; i++)
            result = result * 31 + prepare() + query() + compute();
        System.out.println("RESULT " + result);
    }

    private static int units(String stage) {
        return UNITS_OF.getOrDefault(stage, UNITS);
    }

    private static int next() {
        random = random * 6364136223846793005L + 1442695040888963407L;
        return (int) (random >>> 33);
    }

    /** The first group. */
    static long prepare() {
        int[] numbers = new int[4000];
        long result = fill(numbers);
        return result + sort(numbers) + buckets(numbers);
    }

    static long fill(int[] numbers) {
        for (int unit = 0; unit < 3 * units("fill"); unit++)
            for (int i = 0; i < numbers.length; i++)
                numbers[i] = next();
        return numbers[0];
    }

    static long sort(int[] numbers) {
        long result = 0;
        for (int unit = 0; unit < units("sort"); unit++) {
            int[] copy = numbers.clone();
            Arrays.sort(copy);
            result += copy[unit];
        }
        return result;
    }

    static long buckets(int[] numbers) {
        long result = 0;
        for (int unit = 0; unit < 2 * units("buckets"); unit++) {
            int[] counts = new int[1021];
            for (int number : numbers)
                counts[(number & Integer.MAX_VALUE) % counts.length]++;
            result += counts[unit];
        }
        return result;
    }

    /** The second group. */
    static long query() {
        return index() + parse() + format();
    }

    static long index() {
        long result = 0;
        for (int unit = 0; unit < units("index"); unit++) {
            Map<Integer, Integer> map = new HashMap<>();
            for (int i = 0; i < 2000; i++)
                map.merge(next() & 1023, 1, Integer::sum);
            result += map.size();
        }
        return result;
    }

    static long parse() {
        long result = 0;
        String text = "17,4,1234,-5,99,1000000,31,8,-77,6";
        for (int unit = 0; unit < 50 * units("parse"); unit++)
            for (String word : text.split(","))
                result += Integer.parseInt(word);
        return result;
    }

    static long format() {
        long result = 0;
        for (int unit = 0; unit < 40 * units("format"); unit++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 10; i++)
                text.append(next()).append(' ').append(i * 0.5).append('\n');
            result += text.length();
        }
        return result;
    }

    /** The third group. */
    static long compute() {
        return multiply() + walk();
    }

    static long multiply() {
        int n = 40;
        double[] a = new double[n * n], b = new double[n * n], c = new double[n * n];
        for (int i = 0; i < n * n; i++) {
            a[i] = i % 7;
            b[i] = i % 5;
        }
        for (int unit = 0; unit < units("multiply"); unit++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double sum = 0;
                    for (int k = 0; k < n; k++)
                        sum += a[i * n + k] * b[k * n + j];
                    c[i * n + j] += sum;
                }
        return (long) c[n];
    }

    static long walk() {
        long result = 0;
        for (int unit = 0; unit < 2 * units("walk"); unit++) {
            Node root = null;
            for (int i = 0; i < 500; i++)
                root = insert(root, next());
            result += root.key;
        }
        return result;
    }

    private static Node insert(Node root, int key) {
        Node fresh = new Node();
        fresh.key = key;
        if (root == null)
            return fresh;
        for (Node node = root;;) {
            Node below = key < node.key ? node.left : node.right;
            if (below == null) {
                if (key < node.key)
                    node.left = fresh;
                else
                    node.right = fresh;
                return root;
            }
            node = below;
        }
    }
}
