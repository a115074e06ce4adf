"""Programs that replay the test vectors of a file, or of standard input: they print PASS, or the case that fails."""

from __future__ import annotations

PYTHON = '''\
"""Checks the sampler against its test vectors: python @stem@_replay.py @stem@_vectors.txt

Without a file it reads standard input.
"""

import struct
import sys

import @stem@ as sampler


def replay(line):
    x, stream, used, expected = line.split()
    data, position = bytes.fromhex(stream), 0

    def read(count):
        nonlocal position
        position += count
        if position > len(data):
            raise EOFError
        return data[position - count : position]

    try:
        y = sampler.@core@(struct.unpack(">d", bytes.fromhex(x))[0], read)
    except ValueError:
        return expected == "error"
    return struct.pack(">d", y).hex() == expected and position == int(used)


if len(sys.argv) > 1:
    with open(sys.argv[1], encoding="ascii") as file:
        text = file.read()
else:
    print("reading test vectors from standard input", file=sys.stderr)
    text = sys.stdin.read()
lines = [line for line in text.splitlines() if line and not line.startswith("#")]
for number, line in enumerate(lines, 1):
    if not replay(line):
        print(f"FAIL case {number}")
        sys.exit(1)
if not lines:
    print("FAIL no cases")
    sys.exit(1)
print(f"PASS {len(lines)}")
'''

JAVASCRIPT = """\
// Checks the sampler against its test vectors: node @stem@_replay.mjs @stem@_vectors.txt
// Without a file it reads standard input.
import { readFileSync } from "node:fs";
import { @core@ } from "./@stem@.mjs";

const view = new DataView(new ArrayBuffer(8));

function replay(line) {
  const [input, stream, used, expected] = line.split(" ");
  view.setBigUint64(0, BigInt("0x" + input));
  const x = view.getFloat64(0);
  let position = 0;
  const fill = (bytes) => {
    for (let i = 0; i < bytes.length; i++, position++) {
      if (2 * position >= stream.length) throw new Error("no bytes left");
      bytes[i] = parseInt(stream.slice(2 * position, 2 * position + 2), 16);
    }
  };
  try {
    view.setFloat64(0, @core@(x, fill));
  } catch (error) {
    return error instanceof RangeError && expected === "error";
  }
  return view.getBigUint64(0).toString(16).padStart(16, "0") === expected && position === Number(used);
}

const [, , path] = process.argv;
if (path === undefined) console.error("reading test vectors from standard input");
const lines = readFileSync(path ?? 0, "utf8").split("\\n").filter((line) => line && !line.startsWith("#"));
const failed = lines.findIndex((line) => !replay(line));
if (failed >= 0 || lines.length === 0) {
  console.log(lines.length ? `FAIL case ${failed + 1}` : "FAIL no cases");
  process.exit(1);
}
console.log(`PASS ${lines.length}`);
"""

C = """\
/* Checks the sampler against its test vectors:
 * cc @stem@.c @stem@_replay.c -o replay && ./replay @stem@_vectors.txt
 * Without a file it reads standard input. */
#include "@stem@.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

typedef struct {
    const char *text;
    size_t position, length;
} stream;

static int digit(char letter) {
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

static int from_stream(void *state, unsigned char *bytes, size_t count) {
    stream *from = (stream *)state;
    size_t i;
    if (from->position + count > from->length) return -1;
    for (i = 0; i < count; i++) {
        const char *pair = from->text + 2 * (from->position + i);
        bytes[i] = (unsigned char)(16 * digit(pair[0]) + digit(pair[1]));
    }
    from->position += count;
    return 0;
}

static int replay(void) {
    const char *input = strtok(line, " "), *text = strtok(NULL, " "), *used = strtok(NULL, " ");
    const char *expected = strtok(NULL, " \\r\\n");
    uint64_t word;
    double x, y;
    stream from;
    int outcome;
    if (!expected) return 0;
    word = strtoull(input, NULL, 16);
    memcpy(&x, &word, 8);
    from.text = text;
    from.position = 0;
    from.length = strlen(text) / 2;
    outcome = @core@_from(x, from_stream, &from, &y);
    if (outcome == @guard@_BAD_INPUT) return strcmp(expected, "error") == 0;
    memcpy(&word, &y, 8);
    return outcome == @guard@_OK && strcmp(expected, "error") != 0 && word == strtoull(expected, NULL, 16)
        && from.position == (size_t)strtoull(used, NULL, 10);
}

int main(int count, char **arguments) {
    FILE *vectors = stdin;
    long cases = 0;
    if (count > 1) vectors = fopen(arguments[1], "r");
    else fputs("reading test vectors from standard input\\n", stderr);
    if (!vectors) {
        perror(arguments[1]);
        return 2;
    }
    while (fgets(line, sizeof line, vectors)) {
        if (line[0] == '#' || line[0] == '\\n') continue;
        cases++;
        if (!replay()) {
            printf("FAIL case %ld\\n", cases);
            return 1;
        }
    }
    if (cases == 0) printf("FAIL no cases\\n");
    else printf("PASS %ld\\n", cases);
    return cases == 0;
}
"""

RUST = """\
//! Checks the sampler against its test vectors: rustc @stem@_replay.rs -o replay && ./replay @stem@_vectors.txt
//! Without a file it reads standard input.
#[path = "@stem@.rs"]
#[allow(dead_code)]
mod sampler;

use std::io::Read;

fn replay(line: &str) -> Option<bool> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [input, stream, used, expected] = fields[..] else { return None };
    let x = f64::from_bits(u64::from_str_radix(input, 16).ok()?);
    let mut position = 0;
    let mut fill = |bytes: &mut [u8]| {
        for byte in bytes {
            let pair = stream.get(2 * position..2 * position + 2).ok_or(sampler::Error::NoRandomness)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| sampler::Error::NoRandomness)?;
            position += 1;
        }
        Ok(())
    };
    match sampler::@core@_from(x, &mut fill) {
        Err(error) => Some(error == sampler::Error::BadInput && expected == "error"),
        Ok(y) => Some(y.to_bits() == u64::from_str_radix(expected, 16).ok()? && position == used.parse().ok()?),
    }
}

fn vectors() -> std::io::Result<String> {
    if let Some(path) = std::env::args_os().nth(1) {
        return std::fs::read_to_string(path);
    }
    eprintln!("reading test vectors from standard input");
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn main() {
    let text = vectors().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    });
    let mut cases = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        cases += 1;
        if replay(line) != Some(true) {
            println!("FAIL case {cases}");
            std::process::exit(1);
        }
    }
    if cases == 0 {
        println!("FAIL no cases");
        std::process::exit(1);
    }
    println!("PASS {cases}");
}
"""

JAVA = """\
// Checks the sampler against its test vectors:
// javac @name@.java @name@_Replay.java && java @name@_Replay @stem@_vectors.txt
// Without a file it reads standard input.

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

public final class @name@_Replay {
    private static boolean replay(String line) {
        String[] fields = line.split(" ");
        double x = Double.longBitsToDouble(Long.parseUnsignedLong(fields[0], 16));
        int[] position = {0};
        @name@.Source source = bytes -> {
            for (int i = 0; i < bytes.length; i++) {
                int at = 2 * position[0]++;
                bytes[i] = (byte) Integer.parseInt(fields[1].substring(at, at + 2), 16);
            }
        };
        try {
            String y = String.format("%016x", Double.doubleToRawLongBits(@name@.@core@(x, source)));
            return y.equals(fields[3]) && position[0] == Integer.parseInt(fields[2]);
        } catch (IllegalArgumentException error) {
            return fields[3].equals("error");
        }
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) System.err.println("reading test vectors from standard input");
        byte[] text = arguments.length == 0 ? System.in.readAllBytes() : Files.readAllBytes(Path.of(arguments[0]));
        int cases = 0;
        for (String line : new String(text, StandardCharsets.US_ASCII).split("\\\\R")) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            cases++;
            if (!replay(line)) {
                System.out.println("FAIL case " + cases);
                System.exit(1);
            }
        }
        System.out.println(cases == 0 ? "FAIL no cases" : "PASS " + cases);
        System.exit(cases == 0 ? 1 : 0);
    }
}
"""
