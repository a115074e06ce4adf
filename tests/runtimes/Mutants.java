import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Replays vectors with changed runtimes: {@code Mutants CLASSES VECTORS FOLDER...}, where CLASSES are those of the runtime
 * as it stands, and each FOLDER holds one changed source. Says {@code FOLDER noticed}, {@code survived} or {@code invalid}.
 */
public final class Mutants {
  private static final long LIMIT = 20_000;

  private Mutants() {}

  public static void main(String[] arguments) throws Exception {
    for (String folder : List.of(arguments).subList(2, arguments.length)) {
      System.out.println(folder + " " + outcome(arguments[0], Path.of(arguments[1]), Path.of(folder)));
    }
    System.exit(0); // mutants that never end are still running
  }

  private static String outcome(String classes, Path vectors, Path folder) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String source;
    try (var files = Files.list(folder)) {
      source = files.map(Path::toString).filter(name -> name.endsWith(".java")).findFirst().orElseThrow();
    }
    String[] options = {"-nowarn", "-cp", classes, "-d", folder.toString(), source};
    if (compiler.run(null, null, java.io.OutputStream.nullOutputStream(), options) != 0) return "invalid";
    URL[] places = {folder.toUri().toURL(), new File(classes).toURI().toURL()};
    String[] found = {"noticed"};
    Thread replay =
        new Thread(
            () -> {
              try (URLClassLoader loader = new URLClassLoader(places, ClassLoader.getPlatformClassLoader())) {
                var method = loader.loadClass("mechdesign.runtime.Vectors").getDeclaredMethod("folder", Path.class);
                method.setAccessible(true);
                method.invoke(null, vectors);
                found[0] = "survived";
              } catch (InvocationTargetException noticed) {
                // a vector that is not reproduced, or an exception on the way
              } catch (Exception error) {
                found[0] = "failed: " + error;
              }
            });
    replay.setDaemon(true);
    replay.start();
    replay.join(LIMIT);
    return found[0];
  }
}
