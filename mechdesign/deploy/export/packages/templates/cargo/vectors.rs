//! Replays the vectors: each sampler returns the same double, bit for bit, after as many bytes, and refuses what is no input.

type Fill<'a, E> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), E>;

fn replay<E: Copy + PartialEq>(
    line: &str,
    bad: E,
    none: E,
    draw: impl FnOnce(f64, Fill<'_, E>) -> Result<f64, E>,
) -> Option<bool> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [input, stream, used, expected] = fields[..] else { return None };
    let x = f64::from_bits(u64::from_str_radix(input, 16).ok()?);
    let mut position = 0;
    let mut fill = |bytes: &mut [u8]| {
        for byte in bytes {
            let pair = stream.get(2 * position..2 * position + 2).ok_or(none)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| none)?;
            position += 1;
        }
        Ok(())
    };
    match draw(x, &mut fill) {
        Err(error) => Some(error == bad && expected == "error"),
        Ok(y) => Some(y.to_bits() == u64::from_str_radix(expected, 16).ok()? && position == used.parse().ok()?),
    }
}

@cases@
