package target;

import java.nio.ByteBuffer;

/** One method touches new pages, another one computes: in turn, for the seconds of its argument. */
public final class Faults {
    private static volatile long sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        while (System.nanoTime() < end) {
            touch();
            compute();
        }
    }

    private static void touch() {
        ByteBuffer pages = ByteBuffer.allocateDirect(8 << 20);
        sink += pages.get(4096);
    }

    private static void compute() {
        long end = System.nanoTime() + 20_000_000;
        long sum = sink;
        while (System.nanoTime() < end)
            for (int i = 0; i < 1000; i++)
                sum = sum * 31 + i;
        sink = sum;
    }
}
