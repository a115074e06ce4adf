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

// @include replay/main.rs
