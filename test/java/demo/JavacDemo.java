package demo;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.tools.Diagnostic;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * javac compiles itself: the module jdk.compiler, some 400 files, from the JDK's src.zip.  Sources are read into
 * memory first; class files are only summed up.  Arguments: src.zip, iterations (4), a module (jdk.compiler).
 */
public final class JavacDemo {
    private static final JavaCompiler JAVAC = ToolProvider.getSystemJavaCompiler();

    public static void main(String[] args) throws IOException {
        Path zip = Path.of(args[0]);
        int iterations = args.length > 1 ? Integer.parseInt(args[1]) : 4;
        String module = args.length > 2 ? args[2] : "jdk.compiler";
        List<JavaFileObject> sources = read(zip, module);
        long lines = sources.stream().mapToLong(JavacDemo::lines).sum();
        System.out.printf("javac: %d files, %d lines of %s%n", sources.size(), lines, module);
        long first = 0;
        for (int i = 1; i <= iterations; i++) {
            long start = System.nanoTime();
            long sum = compile(sources);
            System.out.printf("javac: iteration %d of %d: %.2f s, checksum %016x%n", i, iterations,
                (System.nanoTime() - start) / 1e9, sum);
            if (i > 1 && sum != first)
                throw new IllegalStateException("the class files differ from those of the first iteration");
            first = sum;
        }
    }

    private static List<JavaFileObject> read(Path zip, String module) throws IOException {
        List<JavaFileObject> sources = new ArrayList<>();
        try (FileSystem files = FileSystems.newFileSystem(zip, (ClassLoader) null);
             Stream<Path> paths = Files.walk(files.getPath(module))) {
            for (Path path : paths.filter(p -> p.toString().endsWith(".java")).sorted().collect(Collectors.toList()))
                sources.add(new Source(path.toString(), Files.readString(path)));
        }
        return sources;
    }

    private static long lines(JavaFileObject source) {
        return ((Source) source).text.lines().count();
    }

    private static long compile(List<JavaFileObject> sources) throws IOException {
        AtomicLong sum = new AtomicLong();
        try (StandardJavaFileManager files = JAVAC.getStandardFileManager(d -> { }, null, null)) {
            boolean compiled = JAVAC.getTask(null, new Sink(files, sum), JavacDemo::complain,
                List.of("-proc:none", "-nowarn", "-g"), null, sources).call();
            if (!compiled)
                throw new IllegalStateException("javac found errors");
        }
        return sum.get();
    }

    private static void complain(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (diagnostic.getKind() == Diagnostic.Kind.ERROR)
            System.out.println(diagnostic);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String path, String text) {
            super(URI.create("memory:/" + path), Kind.SOURCE);
            this.text = text;
        }

        @Override public CharSequence getCharContent(boolean ignoreEncodingErrors) { return text; }
    }

    /** Adds up the class files' checksums instead of writing them. */
    private static final class Sink extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final AtomicLong sum;

        Sink(StandardJavaFileManager files, AtomicLong sum) {
            super(files);
            this.sum = sum;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location where, String name, JavaFileObject.Kind kind, FileObject from) {
            return new SimpleJavaFileObject(URI.create("memory:/" + name + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return new ByteArrayOutputStream() {
                        @Override
                        public void close() {
                            CRC32 crc = new CRC32();
                            crc.update(buf, 0, count);
                            sum.addAndGet(crc.getValue());
                        }
                    };
                }
            };
        }

        @Override public boolean hasLocation(Location where) {
            return where == StandardLocation.CLASS_OUTPUT || super.hasLocation(where);
        }
    }
}
