package target;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;

/** Prints what a JVM sees of how it was started: environment, command and the name of its process. */
public final class Started {
    private Started() {
    }

    public static void main(String[] args) throws Exception {
        for (var variable : new TreeMap<>(System.getenv()).entrySet())
            if (!variable.getKey().equals("_")) // a shell sets it
                System.out.println(variable);
        System.out.println(System.getProperty("sun.java.command"));
        System.out.print(Files.readString(Path.of("/proc/self/comm")));
    }
}
