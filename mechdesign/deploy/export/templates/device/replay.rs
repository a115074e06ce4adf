//! Checks the device against its test vectors: rustc @device@_replay.rs -o replay && ./replay @device@_vectors.txt
//! With a state in a file: ./replay create FILE PERIOD ALLOWANCE, or report FILE PERIOD X (X in codes).
#[path = "@first@.rs"]
#[allow(dead_code)]
mod @first@;
// @if other
#[path = "@again@.rs"]
#[allow(dead_code)]
mod @again@;
// @end
#[path = "@device@.rs"]
#[allow(dead_code)]
mod @device@;

use @device@::{create, @core@, @core@_from, Error, FileStorage, Storage};

// @include device/replayed.rs

fn from_file(said: &[String]) -> Result<String, Error> {
    let mut storage = FileStorage::open(&said[1])?;
    let period = said[2].parse().map_err(|_| Error::BadNumber)?;
    if said[0] == "create" {
        create(&mut storage, period, said[3].parse().map_err(|_| Error::BadNumber)?, 0)?;
        return Ok("done".to_string());
    }
    let x = said[3].parse().map_err(|_| Error::BadInput)?;
// @if items
    Ok(@core@(&mut storage, x, period, 0)?.iter().map(|byte| format!("{byte:02x}")).collect())
// @else
    Ok(@core@(&mut storage, x, period, 0)?.to_string())
// @end
}

fn main() {
    let said: Vec<String> = std::env::args().skip(1).collect();
    if said.len() == 4 {
        println!("{}", from_file(&said).unwrap_or_else(|error| word(&error).to_string()));
        return;
    }
    let text = std::fs::read_to_string(&said[0]).unwrap_or_else(|error| {
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
