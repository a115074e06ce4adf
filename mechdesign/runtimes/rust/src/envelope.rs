//! The bytes that a collector reads (`mechdesign collect-reports`), in the one form that FORMAT.md has.

use super::bits::{bytes_of, Fill};
use super::error::{BadFile, Error};
#[cfg(any(unix, windows, feature = "wasm"))]
use super::system;
use super::table::{read_hash, Report, Subject, Table};

/// 9999-12-31.
const LAST_DAY: u32 = 2_932_896;

impl Subject {
    /// An attribute of the collection with this hash, in hexadecimal digits.
    pub fn attribute(collection: &str, attribute: u16) -> Result<Subject, BadFile> {
        Ok(Subject { form: 1, attribute, hash: read_hash(collection)? })
    }

    /// The device with this hash, in hexadecimal digits.
    pub fn device(device: &str) -> Result<Subject, BadFile> {
        Ok(Subject { form: 2, attribute: 0, hash: read_hash(device)? })
    }

    /// The envelope of a report of a table.
    pub(super) fn envelope(
        self,
        table: &Table,
        report: &Report<'_>,
        last_day: u32,
        fill: &mut Fill,
    ) -> Result<Vec<u8>, Error> {
        if last_day > LAST_DAY {
            return Err(Error::BadInput);
        }
        let payload = payload(table, report)?;
        let mut nonce = [0; 16];
        fill(&mut nonce)?;
        let mut content = Vec::with_capacity(60 + payload.len());
        content.extend(*b"mdre\x01");
        content.push(self.form);
        content.extend(self.attribute.to_le_bytes());
        content.extend(last_day.to_le_bytes());
        content.extend(self.hash);
        content.extend(nonce);
        content.extend(payload);
        Ok(content)
    }
}

impl Table {
    /// The envelope of a report that this table gave. It counts until the end (UTC) of the day `last_day`, in days
    /// since 1970-01-01. [`Error::BadInput`] if either cannot be. Make one of a report, keep it, and send it again if
    /// sending failed: by its nonce it counts once.
    #[cfg(any(unix, windows, feature = "wasm"))]
    pub fn envelope(&self, report: &Report<'_>, last_day: u32) -> Result<Vec<u8>, Error> {
        self.envelope_from(report, last_day, &mut system::read)
    }

    /// The same with another source, which overwrites all it is given with random bytes.
    pub fn envelope_from(&self, report: &Report<'_>, last_day: u32, fill: &mut Fill) -> Result<Vec<u8>, Error> {
        self.subject.envelope(self, report, last_day, fill)
    }
}

fn payload(table: &Table, report: &Report<'_>) -> Result<Vec<u8>, Error> {
    let outputs = table.listed();
    let place = match report {
        Report::Bytes(bytes) if table.items().map(|(_, size)| size) == Some(bytes.len()) => return Ok(bytes.clone()),
        Report::Number(y) if outputs.is_empty() && table.items().is_none() && y.is_finite() => {
            return Ok((y + 0.0).to_le_bytes().to_vec()); // never minus zero
        }
        Report::Number(y) => outputs.iter().position(|output| output == y),
        Report::Label(label) => table.output_labels().and_then(|labels| labels.iter().position(|text| text == label)),
        Report::Bytes(_) => None,
    };
    let place = place.ok_or(Error::BadInput)? as u64;
    Ok(place.to_le_bytes()[..bytes_of(outputs.len() as u64)].to_vec())
}
