package target;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.TreeMap;

/**
 * A program with a word in it, and an agent that changes it: the same class for two agents.  The program says the word
 * each time that it is another one, and ends when the file exists that is its argument.  The agent retransforms the
 * classes again and again; with the option 'break' it only breaks the class when somebody else does.
 */
public final class Patched {
    /** The agent makes 'agent' of the word 'plain' here. */
    static final class Subject {
        static String word(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += i;
            return sum < 0 ? "" : "plain";
        }
    }

    public static void main(String[] args) throws Exception {
        String before = "";
        long rounds = 0;
        while (!Files.exists(Path.of(args[0]))) {
            String word = Subject.word(100);
            if (!word.equals(before))
                System.out.println("WORD " + word);
            before = word;
            TreeMap<Integer, Integer> map = new TreeMap<>();
            for (int i = 0; i < 1000; i++)
                map.merge(i % 10, i, Integer::sum);
            if (map.get(3) != 49800)
                System.out.println("WRONG " + map.get(3));
            if (++rounds % 1000 == 0)
                System.out.println("ROUND " + rounds);
        }
        System.out.println("END " + before);
    }

    // ---- the agent ----

    private static byte[] patched(byte[] bytes) {
        byte[] from = "plain".getBytes(StandardCharsets.US_ASCII), to = "agent".getBytes(StandardCharsets.US_ASCII);
        byte[] out = bytes.clone();
        for (int i = 0; i + from.length <= out.length; i++)
            if (java.util.Arrays.equals(out, i, i + from.length, from, 0, from.length))
                System.arraycopy(to, 0, out, i, to.length);
        return out;
    }

    public static void premain(String options, Instrumentation instrumentation) {
        agentmain(options, instrumentation);
    }

    public static void agentmain(String options, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> changed, ProtectionDomain domain,
                byte[] bytes) {
                if (!"target/Patched$Subject".equals(name))
                    return null;
                if (!"break".equals(options))
                    return patched(bytes);
                return changed == null ? null : java.util.Arrays.copyOf(bytes, bytes.length - 1);
            }
        }, true);
        if ("break".equals(options))
            return;
        Thread thread = new Thread(() -> again(instrumentation), "patched-agent");
        thread.setDaemon(true);
        thread.start();
    }

    private static void again(Instrumentation instrumentation) {
        try {
            for (;;) {
                instrumentation.retransformClasses(Subject.class, TreeMap.class);
                Thread.sleep(50);
            }
        } catch (Exception e) {
            System.out.println("WRONG " + e);
        }
    }
}
