package target;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Class loaders that know only what they were told, as those of OSGi, of scripts and of sandboxes: whatever else they
 * are asked for makes the program fail.
 *
 * Calls methods of their classes until the file of the first argument is there, then says whether calls failed, whether
 * a loader was asked for anything but what these classes need, and whether those that are not used any more were
 * unloaded.
 */
public final class Sandboxes {
    /** What the loaders define. */
    public static class Work {
        public static int run(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += i * 3;
            return sum;
        }
    }

    /** The superclass of scripts: their loaders know nothing else. */
    public static class Base {
        static int initialized;

        static {
            initialized++;
        }
    }

    public static class Script extends Base {
        public static int run(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += i * 3;
            return sum;
        }
    }

    /** Nobody initializes it. */
    public static class Unused {
        static {
            Sandboxes.fail("a class was initialized that nobody uses");
        }
    }

    public static class Sleeper extends Unused {
        public static int run(int n) {
            return n * 3;
        }
    }

    private static final Map<String, Integer> asked = new HashMap<>();
    private static int failed, calls;

    static synchronized void fail(String what) {
        failed++;
        System.out.println("WRONG " + what);
    }

    private static synchronized void count(String kind, String name) {
        asked.merge(kind + " " + name, 1, Integer::sum);
    }

    /** Knows some names, and hands them to the program's loader. */
    private static class Sandbox extends ClassLoader {
        private final String kind;
        private final Set<String> known;

        Sandbox(String kind, String... known) {
            super(null);
            this.kind = kind;
            this.known = Set.of(known);
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            count(kind, name);
            if (!known.contains(name))
                throw new IllegalStateException(kind + ": a question for " + name);
            return Class.forName(name, false, Sandboxes.class.getClassLoader());
        }

        Class<?> define(Class<?> like) {
            byte[] bytes = bytes(like);
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    private static final class Parallel extends Sandbox {
        static {
            registerAsParallelCapable();
        }

        Parallel(String kind, String... known) {
            super(kind, known);
        }
    }

    private static byte[] bytes(Class<?> like) {
        String file = like.getName().replace('.', '/') + ".class";
        try (InputStream in = Sandboxes.class.getClassLoader().getResourceAsStream(file)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final String OBJECT = "java.lang.Object", BASE = Base.class.getName();

    private static MethodHandle run(Class<?> work) throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(work, "run", MethodType.methodType(int.class, int.class));
    }

    private static void call(MethodHandle run) {
        try {
            calls++;
            if ((int) run.invokeExact(1000) != 1498500)
                fail("a result");
        } catch (Throwable e) {
            fail(e + ": " + e.getCause());
        }
    }

    /** A module of one class, in a layer whose loader is a sandbox. */
    private static MethodHandle inModule() throws Exception {
        ModuleDescriptor descriptor = ModuleDescriptor.newModule("sandbox").packages(Set.of("target")).build();
        ModuleReference reference = new ModuleReference(descriptor, URI.create("none:/")) {
            @Override
            public ModuleReader open() throws IOException {
                throw new IOException("nothing is read from it");
            }
        };
        ModuleFinder finder = new ModuleFinder() {
            @Override
            public Optional<ModuleReference> find(String name) {
                return name.equals("sandbox") ? Optional.of(reference) : Optional.empty();
            }

            @Override
            public Set<ModuleReference> findAll() {
                return Set.of(reference);
            }
        };
        ModuleLayer boot = ModuleLayer.boot();
        Configuration configuration = boot.configuration().resolve(finder, ModuleFinder.of(), Set.of("sandbox"));
        Sandbox loader = new Sandbox("module", OBJECT);
        ModuleLayer.Controller layer = ModuleLayer.defineModules(configuration, List.of(boot), name -> loader);
        Module module = layer.layer().findModule("sandbox").get();
        layer.addExports(module, "target", Sandboxes.class.getModule());
        Class<?> work = loader.define(Work.class);
        if (work.getModule() != module)
            fail("the module");
        return run(work);
    }

    /** Loaders that come and go, each with a class or two. */
    private static void comeAndGo(List<WeakReference<ClassLoader>> gone) throws ReflectiveOperationException {
        Sandbox script = new Sandbox("come", BASE), work = new Parallel("come, parallel", OBJECT);
        call(run(script.define(Script.class)));
        call(run(work.define(Work.class)));
        gone.add(new WeakReference<>(script));
        gone.add(new WeakReference<>(work));
    }

    private static int left(List<WeakReference<ClassLoader>> gone) throws InterruptedException {
        int n = 1;
        for (int i = 0; i < 20 && n > 0; i++) {
            System.gc();
            Thread.sleep(20);
            n = 0;
            for (WeakReference<ClassLoader> reference : gone)
                n += reference.get() == null ? 0 : 1;
        }
        return n;
    }

    /** Holds a loader's lock for good. */
    private static void lock(ClassLoader loader) throws InterruptedException {
        Object started = new Object();
        Thread holder = new Thread(() -> {
            synchronized (loader) {
                synchronized (started) {
                    started.notify();
                }
                try {
                    Thread.sleep(1000000);
                } catch (InterruptedException e) {
                    fail("interrupted");
                }
            }
        });
        holder.setDaemon(true);
        synchronized (started) {
            holder.start();
            started.wait();
        }
    }

    private static void expect(String what, int n) {
        int was = asked.getOrDefault(what, 0);
        if (was != n)
            fail(was + " questions, not " + n + ": " + what);
    }

    private static void checkQuestions(int rounds) {
        String questions = asked.toString();
        int n = 0;
        for (String kind : List.of("strict", "strict, parallel", "locked", "module"))
            expect(kind + " " + OBJECT, 1);
        expect("script " + BASE, 1);
        expect("sleeping " + Unused.class.getName(), 1);
        expect("come " + BASE, rounds);
        expect("come, parallel " + OBJECT, rounds);
        for (int count : asked.values())
            n += count;
        if (n != 6 + 2 * rounds)
            fail("other questions: " + questions);
    }

    public static void main(String[] arguments) throws Exception {
        Path stop = Path.of(arguments[0]);
        List<MethodHandle> methods = new ArrayList<>();
        List<WeakReference<ClassLoader>> gone = new ArrayList<>();
        methods.add(run(new Sandbox("strict", OBJECT).define(Work.class)));
        methods.add(run(new Parallel("strict, parallel", OBJECT).define(Work.class)));
        methods.add(run(new Sandbox("script", BASE).define(Script.class)));
        Sandbox locked = new Sandbox("locked", OBJECT);
        methods.add(run(locked.define(Work.class)));
        lock(locked);
        methods.add(inModule());
        Class<?> sleeper = new Sandbox("sleeping", Unused.class.getName()).define(Sleeper.class);
        int rounds = 0;
        for (; !Files.exists(stop); rounds++) {
            for (MethodHandle run : methods)
                call(run);
            comeAndGo(gone);
            if (rounds == 0)
                System.out.println("READY with " + sleeper.getName());
            Thread.sleep(2);
        }
        checkQuestions(rounds);
        if (Base.initialized != 1)
            fail("the superclass was initialized " + Base.initialized + " times");
        int n = left(gone);
        if (n > 0)
            fail(n + " loaders were not unloaded");
        System.out.println(failed == 0 ? "END ok" : "END " + failed + " of " + calls + " failed");
    }
}
