package target;

import java.io.FileWriter;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** Allocates 600 MB, of which 8 MB live; adds a line to the file that it is given: "-XmxSIZE COLLECTIONS MS". */
public final class Collected {
    private static final byte[][] KEPT = new byte[512][];

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < 600 * 64; i++)
            KEPT[i % KEPT.length] = new byte[16384 - 16];
        long n = 0, ms = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            n += bean.getCollectionCount();
            ms += bean.getCollectionTime();
        }
        String size = "";
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments())
            size = option.startsWith("-Xmx") ? option : size;
        try (FileWriter out = new FileWriter(args[0], true)) {
            out.write(size + " " + n + " " + ms + "\n");
        }
    }
}
