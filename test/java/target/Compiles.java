package target;

import java.io.StringWriter;
import java.net.URI;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Runs javac over and over, whose compiled code takes more than 2.5 MB.  Argument: a directory.  It says READY after some rounds. */
final class Compiles {
    private Compiles() {}

    public static void main(String[] args) {
        StringBuilder text = new StringBuilder("class A {\n");
        for (int i = 0; i < 10; i++) {
            text.append("int m" + i + "(String s) { return java.util.List.of(s).stream().mapToInt(String::length).sum(); }\n");
        }
        String source = text.append("}").toString();
        JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignored) {
                return source;
            }
        };
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of("-proc:none", "-d", args[0]);
        for (int round = 0; ; round++) {
            if (round == 10) {
                System.out.println("READY");
            }
            javac.getTask(new StringWriter(), null, null, options, null, List.of(file)).call();
        }
    }
}
