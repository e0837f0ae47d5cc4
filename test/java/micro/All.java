package micro;

/**
 * All micro programs in one JVM, one after the other, with arguments that make them small but long enough to be
 * compiled.  Unfinished comes last, as it ends the JVM.
 */
public final class All {
    private interface Program { void run(String[] args) throws Throwable; }

    public static void main(String[] args) throws Throwable {
        run("Thesis", Thesis::main, "20", "2");
        run("Locality", Locality::main, "20000", "10000");
        run("Exceptions", Exceptions::main, "100000");
        run("Recursion", Recursion::main, "20");
        run("Virtual", Virtual::main, "600000");
        run("Osr", Osr::main, "8000000");
        run("Threads", Threads::main, "100");
        run("Synchronized", Synchronized::main, "20000");
        run("Constructors", Constructors::main, "120000");
        run("Loaders", Loaders::main, "550", "10");
        run("Lambdas", Lambdas::main, "100000");
        run("Big", Big::main, "200");
        run("Natives", Natives::main, "30000");
        run("Unfinished", Unfinished::main);
    }

    private static void run(String name, Program program, String... args) throws Throwable {
        System.out.println("PROGRAM " + name);
        program.run(args);
    }
}
