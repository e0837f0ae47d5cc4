package target;

/**
 * Walks whose misses are known by class, field and line. Arguments: rounds (1), nodes (65536). With lines of 64 bytes and
 * an L1 of 32 KB: add reads the first long of each of 131,072 lines of an array, chase follows next through nodes of 64
 * bytes in an order that no cache knows. Before each round but the first a collection moves the nodes.
 */
public final class Misses {
    private static final int LINES = 1 << 17, LINE_LONGS = 8;

    /** 64 bytes, with a header of 12 and pointers of 4. */
    private static class Node {
        private Node next;
        private long value, pad1, pad2, pad3, pad4, pad5;
    }

    /** Every other node: what its object is, the bytecode does not name. */
    private static final class Node2 extends Node {
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        int nodes = args.length > 1 ? Integer.parseInt(args[1]) : 1 << 16;
        long[] array = new long[LINES * LINE_LONGS];
        Node first = link(nodes);
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            if (i > 0)
                System.gc();
            sum += add(array) + chase(first);
        }
        System.out.println(sum);
    }

    private static Node link(int n) {
        Node[] all = new Node[n];
        for (int i = 0; i < n; i++) {
            all[i] = i % 2 == 0 ? new Node() : new Node2();
            all[i].value = i;
        }
        /* An odd factor visits each of a power of two once. */
        for (int i = 0; i < n; i++)
            all[at(i, n)].next = i + 1 < n ? all[at(i + 1, n)] : null;
        return all[at(0, n)];
    }

    private static int at(int i, int n) {
        return (int) (i * 2654435761L & n - 1);
    }

    private static long add(long[] array) {
        long sum = 0;
        for (int i = 0; i < array.length; i += LINE_LONGS)
            sum += array[i];
        return sum;
    }

    private static long chase(Node node) {
        long sum = 0;
        for (; node != null; node = node.next)
            sum++;
        return sum;
    }
}
