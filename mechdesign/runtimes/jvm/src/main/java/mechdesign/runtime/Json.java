package mechdesign.runtime;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Scanner;
import java.util.function.Function;
import java.util.stream.Stream;

/** An object of JSON as files have it: objects, lists, texts, whole numbers and null. */
final class Json {
  private final Map<String, Object> members = new HashMap<>();

  /** What is made of a file: whatever fails on the way, the file is to blame. */
  static <T> T read(String text, Function<Json, T> make) {
    try {
      Reader reader = new Reader(text);
      Json found = (Json) reader.value();
      if (!text.substring(reader.next).trim().isEmpty()) throw new FileRefused("be one object");
      return make.apply(found);
    } catch (FileRefused refused) {
      throw refused;
    } catch (RuntimeException | StackOverflowError error) {
      throw new FileRefused("be one of mechdesign: " + error);
    }
  }

  /** The same of a file of the class path, by its path from the root. */
  static <T> T resource(String path, Function<Json, T> make) {
    InputStream file = Json.class.getResourceAsStream(path);
    if (file == null) throw new FileRefused("be in the class path as " + path);
    try (Scanner whole = new Scanner(file, "UTF-8").useDelimiter("\\A")) {
      return read(whole.hasNext() ? whole.next() : "", make);
    }
  }

  /** Whether the key, which must be there, has more than null. */
  boolean has(String key) {
    FileRefused.unless(members.containsKey(key), key);
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

  /** A whole number between these. */
  long whole(String key, long least, long most) {
    long found = get(key, Long.class);
    FileRefused.unless(least <= found && found <= most, key);
    return found;
  }

  double number(String key) {
    return decimal(text(key));
  }

  private static double decimal(String text) {
    FileRefused.unless(text.matches("-?[0-9]+(\\.[0-9]+)?"), "number");
    double found = Double.parseDouble(text) + 0.0; // minus zero is zero
    FileRefused.unless(Double.isFinite(found), "number");
    return found;
  }

  private static <T> Stream<T> each(Object list, Class<T> type) {
    return ((List<?>) list).stream().map(type::cast).map(Objects::requireNonNull);
  }

  <T> Stream<T> each(String key, Class<T> type) {
    return each(members.get(key), type);
  }

  private static long[] wholes(Object list) {
    return each(list, Long.class).mapToLong(number -> number).toArray();
  }

  long[] wholes(String key) {
    return wholes(members.get(key));
  }

  Stream<long[]> rows(String key) {
    return each(key, List.class).map(Json::wholes);
  }

  double[] numbers(String key) {
    return each(key, String.class).mapToDouble(Json::decimal).toArray();
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
      if (!takes(mark)) throw new FileRefused("have a " + mark + " as character " + next);
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
