//! Replays the vectors of envelopes: each writer gives the same bytes for the same nonce, and refuses what cannot be.

type Fill<'a, E> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), E>;

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("digits")).collect()
}

#[allow(dead_code)]
fn label(digits: &str) -> String {
    String::from_utf8(bytes(digits)).expect("UTF-8")
}

#[allow(dead_code)]
fn number(digits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(digits, 16).expect("digits"))
}

#[allow(dead_code)]
fn report<const N: usize>(digits: &str) -> [u8; N] {
    bytes(digits).try_into().expect("as many bytes as a report has")
}

fn replay<E: Copy + PartialEq + std::fmt::Debug>(
    text: &str,
    bad: E,
    write: impl Fn(&str, u32, Fill<'_, E>) -> Result<Vec<u8>, E>,
) {
    let mut cases = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        cases += 1;
        let fields: Vec<&str> = line.split_whitespace().collect();
        let mut fill = |place: &mut [u8]| {
            place.copy_from_slice(&bytes(fields[2]));
            Ok(())
        };
        let expected = if fields[3] == "error" { Err(bad) } else { Ok(bytes(fields[3])) };
        assert_eq!(write(fields[0], fields[1].parse().expect("a day"), &mut fill), expected, "case {cases}");
    }
    assert!(cases > 1);
}

@cases@
