//! Test vectors of devices: the same reports, states, refusals and envelopes after as many random bytes.

use super::device::{Device, DeviceError, Storage};
use super::error::BadFile;
use super::json::Json;
use super::replay::{answered, digits, input, replay, said, said_subject, sends, Stream, Vectors};
use super::table::{bytes, Subject, Table};
use std::io;

/// Files that vectors are of.
#[derive(Default)]
pub struct Files {
    pub tables: Vec<Table>,
    devices: Vec<Vec<u8>>,
}

impl Files {
    /// Takes in a table, a device file, or a collection with its tables.
    pub fn add(&mut self, content: &[u8]) -> Result<(), BadFile> {
        let document = Json::parse(content)?;
        match document.text("format")?.as_str() {
            "mechdesign device" => self.devices.push(content.to_vec()),
            "mechdesign collection" => {
                for (number, attribute) in (0..).zip(document.get("attributes")?.list()?) {
                    let subject = Subject::attribute(&document.text("sha256")?, number)?;
                    self.tables.push(Table::read_document(attribute.get("table")?)?.of(subject));
                }
            }
            _ => self.tables.push(Table::read_document(&document)?),
        }
        Ok(())
    }

    /// The devices, each with its tables among those that are here.
    fn devices(&self) -> Result<Vec<Device<'_>>, BadFile> {
        let named = |hash: Option<String>| self.tables.iter().find(|table| hash == Some(digits(&table.hash())));
        let read = |content: &Vec<u8>| {
            let document = Json::parse(content)?;
            let once = named(Some(document.text("table")?)).ok_or(BadFile("a table is missing"))?;
            Device::read(content, once, named(document.get("again")?.present().map(Json::scalar).transpose()?))
        };
        self.devices.iter().map(read).collect()
    }

    /// How many cases a text of vectors has, or what is wrong.
    pub fn replay(&self, text: &str) -> Result<usize, String> {
        let Vectors { head, hash, lines } = Vectors::of(text);
        let devices = self.devices().map_err(|error| error.to_string())?;
        let of = |hash: &str| devices.iter().find(|device| digits(&device.subject.hash) == hash);
        if let Some(device) = of(hash) {
            return answered(&lines, &|line| keeps(device, line));
        }
        match said_subject(&lines).and_then(of) {
            Some(device) if head.starts_with("# envelopes ") => answered(&lines, &|line| {
                sends(device.reporting(), &|report, day, fill| device.envelope_from(report, day, fill), line)
            }),
            _ => replay(&self.tables.iter().collect::<Vec<_>>(), text),
        }
    }
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
