//! Test vectors: a runtime passes if it gives the same reports and envelopes after as many random bytes.

use super::bits::Fill;
use super::error::Error;
use super::table::{bytes, Report, Table};

/// How an envelope is written of a report, until a day, with a nonce from a source.
pub(super) type Writes<'a> = dyn Fn(&Report<'_>, u32, &mut Fill) -> Result<Vec<u8>, Error> + 'a;

/// How many cases a text of vectors has, which are of one of these tables or of its envelopes; or what is wrong.
pub fn replay(tables: &[&Table], text: &str) -> Result<usize, String> {
    let Vectors { head, hash, lines } = Vectors::of(text);
    let tables: Vec<&Table> = tables.iter().copied().filter(|table| digits(&table.hash()) == hash).collect();
    let table = *tables.first().ok_or("vectors of another file")?;
    if head.starts_with("# test vectors of table ") {
        return answered(&lines, &|line| draws(table, line));
    }
    let of = said_subject(&lines).ok_or("no cases")?;
    let writer = *tables.iter().find(|table| digits(&table.subject.hash) == of).ok_or("envelopes of another file")?;
    answered(&lines, &|line| sends(table, &|report, day, fill| writer.envelope_from(report, day, fill), line))
}

/// A text of vectors: its first line, the hash at the end of that, and the fields of the cases.
pub(super) struct Vectors<'a> {
    pub(super) head: &'a str,
    pub(super) hash: &'a str,
    pub(super) lines: Vec<Vec<&'a str>>,
}

impl<'a> Vectors<'a> {
    pub(super) fn of(text: &'a str) -> Vectors<'a> {
        let head = text.lines().next().unwrap_or_default();
        let cases = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = cases.map(|line| line.split(' ').collect()).collect();
        Vectors { head, hash: head.rsplit(' ').next().unwrap_or_default(), lines }
    }
}

/// The hash of what the first envelope says that its report is of.
pub(super) fn said_subject<'a>(lines: &[Vec<&'a str>]) -> Option<&'a str> {
    lines.first()?.get(3)?.get(24..88)
}

/// How many lines there are, all of which pass; or the first one that does not.
pub(super) fn answered(lines: &[Vec<&str>], passes: &dyn Fn(&[&str]) -> Option<bool>) -> Result<usize, String> {
    match lines.iter().position(|line| passes(line) != Some(true)) {
        Some(case) => Err(format!("case {}", case + 1)),
        None if lines.is_empty() => Err("no cases".to_owned()),
        None => Ok(lines.len()),
    }
}

/// Bytes that are given one after the other, and counted.
pub(super) struct Stream {
    bytes: Vec<u8>,
    pub(super) used: usize,
}

impl Stream {
    pub(super) fn new(digits: &str) -> Option<Stream> {
        Some(Stream { bytes: if digits == "-" { Vec::new() } else { bytes(digits)? }, used: 0 })
    }

    pub(super) fn fill(&mut self, place: &mut [u8]) -> Result<(), Error> {
        let next = self.bytes.get(self.used..self.used + place.len()).ok_or(Error::NoRandomness)?;
        place.copy_from_slice(next);
        self.used += place.len();
        Ok(())
    }
}

/// INPUT BYTES USED OUTPUT
fn draws(table: &Table, line: &[&str]) -> Option<bool> {
    let &[x, stream, used, expected] = line else { return None };
    let (x, mut stream) = (input(table, x)?, Stream::new(stream)?);
    let drawn = table.sample_code_from(x, &mut |bytes| stream.fill(bytes));
    let (own, mut many) = (stream.used, vec![0; table.report_bytes()]);
    stream.used = 0;
    let written = table.sample_codes_from(&[x], &mut many, &mut |bytes| stream.fill(bytes)).map(|()| match &drawn {
        Ok(Report::Number(_)) => Report::Number(f64::from_le_bytes(many.try_into().unwrap_or_default())),
        _ => Report::Bytes(many),
    });
    match &drawn {
        Err(error) => Some(*error == Error::BadInput && expected == "error" && written == drawn),
        Ok(report) => {
            let is_right = said(report) == expected && own == used.parse().ok()?;
            Some(is_right && written == drawn && stream.used == own)
        }
    }
}

/// REPORT DAY NONCE ENVELOPE
pub(super) fn sends(table: &Table, write: &Writes<'_>, line: &[&str]) -> Option<bool> {
    let &[report, day, nonce, expected] = line else { return None };
    let mut stream = Stream::new(nonce)?;
    let text = String::from_utf8(bytes(report)?).unwrap_or_default();
    let report = match table.items() {
        Some(_) => Report::Bytes(bytes(report)?),
        None if table.output_labels().is_some() => Report::Label(&text),
        None => Report::Number(double(report)?),
    };
    let written = write(&report, day.parse().ok()?, &mut |place| stream.fill(place));
    Some(written.map_or_else(|_| "error".to_owned(), |content| digits(&content)) == expected)
}

/// The bits of a number, or an item.
pub(super) fn input(table: &Table, text: &str) -> Option<f64> {
    match table.items() {
        Some(_) => text.parse().ok(),
        None => double(text),
    }
}

pub(super) fn said(report: &Report<'_>) -> String {
    match report {
        Report::Label(label) => (*label).to_owned(),
        Report::Number(y) => format!("{:016x}", y.to_bits()),
        Report::Bytes(bytes) => digits(bytes),
    }
}

fn double(digits: &str) -> Option<f64> {
    Some(f64::from_bits(u64::from_str_radix(digits, 16).ok()?))
}

pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
