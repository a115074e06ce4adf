//! Replays test vectors: `cargo run --features replay --example replay -- VECTORS.txt FILE.json...`, where the files
//! are the table, or the device and its tables, or the collection that the vectors are of.

use mechdesign_runtime::device_replay::Files;
use std::{env, fs, process};

fn main() {
    let paths: Vec<_> = env::args_os().skip(1).collect();
    let mut files = Files::default();
    let read = |path| fs::read(path).unwrap_or_else(|error| fail(&error.to_string(), 2));
    let Some((vectors, others)) = paths.split_first() else { fail("replay VECTORS.txt FILE.json...", 2) };
    for path in others {
        files.add(&read(path)).unwrap_or_else(|error| fail(&error.to_string(), 2));
    }
    match files.replay(&String::from_utf8_lossy(&read(vectors))) {
        Ok(cases) => println!("PASS {cases}"),
        Err(why) => fail(&format!("FAIL {why}"), 1),
    }
}

fn fail(why: &str, code: i32) -> ! {
    println!("{why}");
    process::exit(code)
}
