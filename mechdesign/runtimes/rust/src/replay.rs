//! Test vectors: a runtime passes if it gives the same reports, states and envelopes after as many random bytes.

use super::device::{Device, DeviceError, Storage};
use super::envelope::Subject;
use super::error::{BadFile, Error};
use super::json;
use super::table::{Report, Table};
use std::io;

type Passes<'a> = dyn Fn(&[&str]) -> Option<bool> + 'a;

/// Files that vectors are of.
#[derive(Default)]
pub struct Files {
    pub tables: Vec<Table>,
    devices: Vec<Vec<u8>>,
}

impl Files {
    /// Takes in a table, a device file, or a collection with its tables.
    pub fn add(&mut self, content: &[u8]) -> Result<(), BadFile> {
        let document = json::parse(content)?;
        match document.get("format")?.text()? {
            "mechdesign device" => self.devices.push(content.to_vec()),
            "mechdesign collection" => {
                for (number, attribute) in (0..).zip(document.get("attributes")?.list()?) {
                    let subject = Subject::attribute(document.get("sha256")?.text()?, number)?;
                    self.tables.push(Table::read_document(attribute.get("table")?)?.of(subject));
                }
            }
            _ => self.tables.push(Table::read_document(&document)?),
        }
        Ok(())
    }

    /// The devices, each with its tables among those that are here.
    fn devices(&self) -> Result<Vec<Device<'_>>, BadFile> {
        let named = |hash: Option<&str>| {
            self.tables.iter().find(|table| hash.is_some_and(|hash| digits(&table.hash()) == hash))
        };
        let read = |content: &Vec<u8>| {
            let document = json::parse(content)?;
            let once = named(Some(document.get("table")?.text()?)).ok_or(BadFile("a table is missing"))?;
            let again = document.get("again")?.present().map(json::Json::text).transpose()?;
            Device::read(content, once, named(again))
        };
        self.devices.iter().map(read).collect()
    }

    /// How many cases a text of vectors has, or what is wrong.
    pub fn replay(&self, text: &str) -> Result<usize, String> {
        let head = text.lines().next().unwrap_or_default();
        let hash = head.rsplit(' ').next().unwrap_or_default();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.split(' ').collect())
            .collect();
        let devices = self.devices().map_err(|error| error.to_string())?;
        let device = devices.iter().find(|device| digits(&device.subject.hash) == hash);
        let tables: Vec<&Table> = self.tables.iter().filter(|table| digits(&table.hash()) == hash).collect();
        let passes: Box<Passes<'_>> = match (tables.first(), device) {
            (Some(table), _) if head.starts_with("# test vectors of table ") => Box::new(|line| draws(table, line)),
            (Some(_), _) => Box::new(|line| sends(&tables, &devices, line, &lines[0])),
            (_, Some(device)) => Box::new(|line| keeps(device, line)),
            _ => return Err("vectors of another file".to_owned()),
        };
        match lines.iter().position(|line| passes(line) != Some(true)) {
            Some(case) => Err(format!("case {}", case + 1)),
            None if lines.is_empty() => Err("no cases".to_owned()),
            None => Ok(lines.len()),
        }
    }
}

/// Bytes that are given one after the other, and counted.
struct Stream {
    bytes: Vec<u8>,
    used: usize,
}

impl Stream {
    fn new(digits: &str) -> Option<Stream> {
        Some(Stream { bytes: if digits == "-" { Vec::new() } else { bytes(digits)? }, used: 0 })
    }

    fn fill(&mut self, place: &mut [u8]) -> Result<(), Error> {
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

/// REPORT DAY NONCE ENVELOPE, of what the first envelope says that its report is of.
fn sends(tables: &[&Table], devices: &[Device<'_>], line: &[&str], first: &[&str]) -> Option<bool> {
    let &[report, day, nonce, expected] = line else { return None };
    let of = bytes(first[3].get(24..88)?)?;
    let mut stream = Stream::new(nonce)?;
    let fill = &mut |place: &mut [u8]| stream.fill(place);
    let last_day = day.parse().ok()?;
    let text = String::from_utf8(bytes(report)?).unwrap_or_default();
    let report = match tables[0].items() {
        Some(_) => Report::Bytes(bytes(report)?),
        None if tables[0].output_labels().is_some() => Report::Label(&text),
        None => Report::Number(double(report)?),
    };
    let written = match devices.iter().find(|device| device.subject.hash[..] == of) {
        Some(device) => device.envelope_from(&report, last_day, fill),
        None => tables.iter().find(|table| table.subject.hash[..] == of)?.envelope_from(&report, last_day, fill),
    };
    Some(written.map_or_else(|_| "error".to_owned(), |content| digits(&content)) == expected)
}

#[derive(Default)]
struct Memory {
    content: Option<Vec<u8>>,
    stored: Option<Vec<u8>>,
}

impl Storage for Memory {
    fn load(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.content.clone())
    }

    fn store(&mut self, content: &[u8]) -> io::Result<()> {
        self.stored = Some(content.to_vec());
        Ok(())
    }
}

/// WHAT STATE PERIOD LEAST ALLOWANCE INPUT BYTES USED OUTCOME STORED
fn keeps(device: &Device<'_>, line: &[&str]) -> Option<bool> {
    let &[what, state, period, least, allowance, x, stream, used, outcome, after] = line else { return None };
    let mut storage = Memory { content: bytes(state), stored: None };
    let (period, least) = (period.parse().ok()?, least.parse().ok()?);
    let answer = if what == "create" {
        device.create(&mut storage, period, allowance.parse().ok()?, least).map(|()| "done".to_owned())
    } else {
        let mut stream = Stream::new(stream)?;
        let fill = &mut |place: &mut [u8]| stream.fill(place);
        let answer = device.report_code_from(&mut storage, input(device.once, x)?, period, least, fill);
        if answer.is_ok() && stream.used != used.parse().ok()? {
            return Some(false);
        }
        answer.map(|report| said(&report))
    };
    let answer = answer.unwrap_or_else(|error| word(&error).to_owned());
    Some(answer == outcome && storage.stored.map_or("-".to_owned(), |stored| digits(&stored)) == after)
}

fn word(error: &DeviceError) -> &'static str {
    match error {
        DeviceError::BadInput => "input",
        DeviceError::NoRandomness => "randomness",
        DeviceError::Missing => "missing",
        DeviceError::Damaged => "damaged",
        DeviceError::Other => "other",
        DeviceError::RolledBack => "rolled-back",
        DeviceError::Past => "past",
        DeviceError::Ahead => "ahead",
        DeviceError::Exhausted => "exhausted",
        DeviceError::Present => "present",
        DeviceError::Busy => "busy",
        DeviceError::BadNumber => "number",
        DeviceError::Storage(_) => "storage",
    }
}

/// The bits of a number, or an item.
fn input(table: &Table, text: &str) -> Option<f64> {
    match table.items() {
        Some(_) => text.parse().ok(),
        None => double(text),
    }
}

fn said(report: &Report<'_>) -> String {
    match report {
        Report::Label(label) => (*label).to_owned(),
        Report::Number(y) => format!("{:016x}", y.to_bits()),
        Report::Bytes(bytes) => digits(bytes),
    }
}

fn double(digits: &str) -> Option<f64> {
    Some(f64::from_bits(u64::from_str_radix(digits, 16).ok()?))
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()).collect()
}
