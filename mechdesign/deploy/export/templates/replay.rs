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

// @include replay/main.rs
