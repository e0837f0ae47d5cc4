package target;

import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Says after each call of step how often it was called, in a file that outlives the process: 8 bytes, big-endian.
 * Arguments: that file, and one at whose coming it starts to count.  Steps are some microseconds long.
 */
public final class Steps {
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
            MappedByteBuffer said = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8);
            Path go = Path.of(args[1]);
            System.out.println("READY");
            while (!Files.exists(go))
                rest();
            for (long n = 1;; n++) {
                step(n);
                said.putLong(0, n);
            }
        }
    }

    /** Whoever sees it in a recording knows that steps are recorded, too. */
    private static void rest() throws InterruptedException {
        for (int i = 0; i < 5; i++)
            Thread.sleep(1);
    }

    private static void step(long n) {
        long sum = n;
        for (int i = 0; i < 2000; i++)
            sum = sum * 31 + i;
        sink = sum;
    }
}
