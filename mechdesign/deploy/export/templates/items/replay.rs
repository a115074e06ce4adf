//! Checks the sampler against its test vectors: rustc @stem@_replay.rs -o replay && ./replay @stem@_vectors.txt
//! Without a file it reads standard input.
#[path = "@stem@.rs"]
#[allow(dead_code)]
mod sampler;

use std::io::Read;

fn replay(line: &str) -> Option<bool> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [input, stream, used, expected] = fields[..] else { return None };
    let mut position = 0;
    let mut fill = |bytes: &mut [u8]| {
        for byte in bytes {
            let pair = stream.get(2 * position..2 * position + 2).ok_or(sampler::Error::NoRandomness)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| sampler::Error::NoRandomness)?;
            position += 1;
        }
        Ok(())
    };
    let item = u64::try_from(input.parse::<i64>().ok()?).unwrap_or(u64::MAX);
    match sampler::@core@_from(item, &mut fill) {
        Err(error) => Some(error == sampler::Error::BadInput && expected == "error"),
        Ok(report) => {
            let found: String = report.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(found == expected && position == used.parse().ok()?)
        }
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
