package mechdesign.runtime;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** An object of JSON as files of tables have it: objects, lists, texts, whole numbers and null. */
final class Json {
  private static final Pattern DECIMAL = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");

  private final Map<String, Object> members = new HashMap<>();

  static Json read(String text) {
    Reader reader = new Reader(text);
    try {
      Object found = reader.value();
      if (found instanceof Json && text.substring(reader.next).trim().isEmpty())
        return (Json) found;
    } catch (IndexOutOfBoundsException | NumberFormatException | StackOverflowError error) {
      // refused like all else that is none
    }
    throw new FileRefused("be JSON of a table: see character " + reader.next);
  }

  /** A file of the class path, by its path from the root. */
  static Json resource(String path) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (InputStream file = Json.class.getResourceAsStream(path)) {
      if (file == null) throw new FileRefused("be in the class path as " + path);
      byte[] part = new byte[8192];
      for (int count; (count = file.read(part)) >= 0; ) content.write(part, 0, count);
      return read(content.toString("UTF-8"));
    } catch (IOException error) {
      throw new FileRefused("be readable: " + path);
    }
  }

  boolean names(String key) {
    return members.containsKey(key);
  }

  /** Whether the key, which must be there, has more than null. */
  boolean has(String key) {
    FileRefused.unless(names(key), key);
    return members.get(key) != null;
  }

  private <T> T get(String key, Class<T> type) {
    FileRefused.unless(type.isInstance(members.get(key)), key);
    return type.cast(members.get(key));
  }

  Json object(String key) {
    return get(key, Json.class);
  }

  String text(String key) {
    return get(key, String.class);
  }

  /** 64 hexadecimal digits. */
  String hash(String key) {
    FileRefused.unless(text(key).matches("[0-9a-f]{64}"), key);
    return text(key);
  }

  long whole(String key) {
    return get(key, Long.class);
  }

  /** A whole number between these. */
  long whole(String key, long least, long most) {
    FileRefused.unless(least <= whole(key) && whole(key) <= most, key);
    return whole(key);
  }

  double number(String key) {
    return number(text(key), key);
  }

  private static double number(String text, String key) {
    FileRefused.unless(DECIMAL.matcher(text).matches(), key);
    double found = Double.parseDouble(text) + 0.0; // minus zero is zero
    FileRefused.unless(Double.isFinite(found), key);
    return found;
  }

  List<?> list(String key) {
    return get(key, List.class);
  }

  private static <T> Stream<T> each(Object list, Class<T> type, String key) {
    boolean isRight = list instanceof List && ((List<?>) list).stream().allMatch(type::isInstance);
    FileRefused.unless(isRight, key);
    return ((List<?>) list).stream().map(type::cast);
  }

  String[] texts(String key) {
    return each(list(key), String.class, key).toArray(String[]::new);
  }

  long[] wholes(String key) {
    return wholes(list(key), key);
  }

  private static long[] wholes(Object list, String key) {
    return each(list, Long.class, key).mapToLong(number -> number).toArray();
  }

  long[][] rows(String key) {
    return list(key).stream().map(row -> wholes(row, key)).toArray(long[][]::new);
  }

  double[] numbers(String key) {
    return each(list(key), String.class, key).mapToDouble(text -> number(text, key)).toArray();
  }

  /** Numbers of which each is larger than the one before. */
  double[] increasing(String key) {
    double[] found = numbers(key);
    for (int i = 1; i < found.length; i++) FileRefused.unless(found[i - 1] < found[i], key);
    return found;
  }

  private static final class Reader {
    private final String text;
    private int next;

    Reader(String text) {
      this.text = text;
    }

    private boolean takes(char mark) {
      while (" \t\r\n".indexOf(text.charAt(next)) >= 0) next++;
      if (text.charAt(next) != mark) return false;
      next++;
      return true;
    }

    private void require(char mark) {
      if (!takes(mark)) throw new NumberFormatException();
    }

    private void each(char end, Runnable read) {
      if (takes(end)) return;
      do read.run();
      while (takes(','));
      require(end);
    }

    Object value() {
      if (takes('{')) {
        Json found = new Json();
        each('}', () -> member(found));
        return found;
      }
      if (takes('[')) {
        List<Object> found = new ArrayList<>();
        each(']', () -> found.add(value()));
        return found;
      }
      if (takes('"')) return string();
      int start = next;
      while ("-0123456789null".indexOf(text.charAt(next)) >= 0) next++;
      String word = text.substring(start, next);
      return word.equals("null") ? null : Long.valueOf(word);
    }

    private void member(Json found) {
      require('"');
      String key = string();
      require(':');
      found.members.put(key, value());
    }

    private String string() {
      StringBuilder found = new StringBuilder();
      for (char letter; (letter = text.charAt(next++)) != '"'; ) {
        found.append(letter == '\\' ? escaped(text.charAt(next++)) : letter);
      }
      return found.toString();
    }

    private char escaped(char letter) {
      if (letter != 'u') return "\"\\/\b\f\n\r\t".charAt("\"\\/bfnrt".indexOf(letter));
      next += 4;
      return (char) Integer.parseInt(text.substring(next - 4, next), 16);
    }
  }
}
