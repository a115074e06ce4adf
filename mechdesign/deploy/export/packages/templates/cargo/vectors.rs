//! Replays the vectors: each sampler returns the same report, bit for bit, after as many bytes, and refuses what is no input.

type Fill<'a, E> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), E>;

fn replay<E: Copy + PartialEq>(
    line: &str,
    bad: E,
    none: E,
    draw: impl FnOnce(&str, Fill<'_, E>) -> Result<String, E>,
) -> Option<bool> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [input, stream, used, expected] = fields[..] else { return None };
    let mut position = 0;
    let mut fill = |bytes: &mut [u8]| {
        for byte in bytes {
            let pair = stream.get(2 * position..2 * position + 2).ok_or(none)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| none)?;
            position += 1;
        }
        Ok(())
    };
    match draw(input, &mut fill) {
        Err(error) => Some(error == bad && expected == "error"),
        Ok(y) => Some(y == expected && position == used.parse().ok()?),
    }
}

#[allow(dead_code)]
fn number(input: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(input, 16).expect("a vector begins with the bits of a number"))
}

#[allow(dead_code)]
fn item(input: &str) -> u64 {
    input.parse().unwrap_or(u64::MAX)
}

#[allow(dead_code)]
fn bits(y: f64) -> String {
    format!("{:016x}", y.to_bits())
}

#[allow(dead_code)]
fn digits<const N: usize>(y: [u8; N]) -> String {
    y.iter().map(|byte| format!("{byte:02x}")).collect()
}

@cases@
