// Files of tables and devices: JSON whose whole numbers have up to 63 bits.

/** The file is none that reports can be drawn from. */
export class FileRefused extends Error {
  name = "FileRefused";
}

const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d{16,}/g;

/** What is made of a file, given as its text or its bytes: all that goes wrong on the way refuses it. */
export function read(content, make) {
  try {
    const text = typeof content === "string" ? content : new TextDecoder().decode(content);
    // numbers that a double cannot hold become texts, from which BigInt makes them again
    const json = text.replace(TEXT_OR_LONG_NUMBER, (found) => (found[0] === '"' ? found : `"${found}"`));
    return make(JSON.parse(json));
  } catch (error) {
    throw new FileRefused(`no reports can be drawn from the file: ${error.message}`, { cause: error });
  }
}

export function need(holds, rule) {
  if (!holds) throw new RangeError(rule);
}

/** The whole number that a file has somewhere, where a double holds it. */
export function size(value, least, most) {
  need(Number.isInteger(value) && least <= value && value <= most, `a number must lie between ${least} and ${most}`);
  return value;
}

export function double(text) {
  const number = Number.parseFloat(text);
  need(Number.isFinite(number), "a number must be the decimal digits of a double");
  return number;
}

export function hash(text) {
  need(/^[0-9a-f]{64}$/.test(text), "a hash must have 64 hexadecimal digits");
  return text;
}
