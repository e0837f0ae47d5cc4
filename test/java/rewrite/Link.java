import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Links classes of the boot layer, which is when the JVM verifies them, without initializing them.
 * Argument: a file with lines 'MODULE CLASS'. Prints counts as 'NAME NUMBER' lines, and each VerifyError.
 */
public final class Link {
    private static int linked, verifyErrors, otherErrors, absent;

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            int space = line.indexOf(' ');
            link(line.substring(0, space), line.substring(space + 1));
        }
        System.out.println("LINKED " + linked);
        System.out.println("VERIFY_ERRORS " + verifyErrors);
        System.out.println("OTHER_ERRORS " + otherErrors);
        System.out.println("ABSENT " + absent);
        printCounts();
    }

    private static void link(String module, String name) {
        Optional<Module> m = ModuleLayer.boot().findModule(module);
        try {
            Class<?> c = m.isEmpty() ? null : Class.forName(m.get(), name);
            if (c == null) {
                absent++;
                System.out.println("absent: " + module + " " + name);
                return;
            }
            // Since JDK 1.4 the JVM links a class before it lists its constructors (JVM_GetClassDeclaredConstructors).
            c.getDeclaredConstructors();
            linked++;
        } catch (VerifyError e) {
            verifyErrors++;
            System.out.println("VerifyError: " + name + ": " + e.getMessage());
        } catch (LinkageError | TypeNotPresentException e) {
            otherErrors++;
            System.out.println("other: " + name + ": " + e);
        }
    }

    /** What the probe class counted, if there is one. */
    private static void printCounts() throws IllegalAccessException {
        try {
            for (Field f : Class.forName("java.lang.MmprofProbe").getFields())
                System.out.println(f.getName().toUpperCase() + " " + f.get(null));
        } catch (ClassNotFoundException e) {
            System.out.println("PROBE 0");
        }
    }
}
