//! A device that remembers what it drew for each value, and counts the reports of a period.

use super::bits::Fill;
use super::error::{BadFile, Error};
use super::json::Json;
#[cfg(any(unix, windows))]
use super::system;
use super::table::{read_hash, Report, Subject, Table};
use std::{fmt, io};

const MOST: u32 = 0x7fff_ffff;
const AHEAD: u32 = 100;
const HEAD: usize = 56;

/// Why there is no report, or no new state: but for `Storage`, nothing was stored.
#[derive(Debug)]
pub enum DeviceError {
    BadInput,
    NoRandomness,
    /// There is no state: it was lost, or never created.
    Missing,
    Damaged,
    /// The state is another device's.
    Other,
    /// An older state than one that was seen.
    RolledBack,
    /// A period before that of the state.
    Past,
    /// A period more than 100 after that of the state.
    Ahead,
    /// The period has no report left.
    Exhausted,
    /// There is a state already.
    Present,
    /// Another process uses the storage.
    Busy,
    /// A period, allowance or serial that is too large.
    BadNumber,
    /// `load` or `store` failed: the state is this one or the next.
    Storage(io::Error),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Storage(error) => write!(f, "the storage failed: {error}"),
            refused => write!(f, "the device refused: {refused:?}"),
        }
    }
}

impl std::error::Error for DeviceError {}

impl From<Error> for DeviceError {
    fn from(error: Error) -> DeviceError {
        match error {
            Error::NoRandomness => DeviceError::NoRandomness,
            Error::BadInput => DeviceError::BadInput,
        }
    }
}

/// `load` gives the bytes stored last; `store` returns once they are there to stay. No two processes may use one
/// storage at a time.
pub trait Storage {
    fn load(&mut self) -> io::Result<Option<Vec<u8>>>;
    fn store(&mut self, content: &[u8]) -> io::Result<()>;
}

/// A device: its first table draws once for a value, its second one, if there is one, in every report from that.
pub struct Device<'t> {
    pub(super) once: &'t Table,
    again: Option<&'t Table>,
    pub(super) subject: Subject,
    values: usize,
    reports: u32,
}

struct State {
    serial: u32,
    period: u32,
    made: u32,
    /// What was asked and what was drawn for it, one after the other, as bytes.
    entries: Vec<u8>,
}

impl<'t> Device<'t> {
    /// The device of a file, with the tables that it names.
    pub fn read(content: impl AsRef<[u8]>, once: &'t Table, again: Option<&'t Table>) -> Result<Device<'t>, BadFile> {
        let document = Json::parse(content.as_ref())?;
        document.require_format("mechdesign device", "1")?;
        let second = document.get("again")?.present().map(|hash| read_hash(&hash.scalar::<String>()?)).transpose()?;
        if read_hash(&document.text("table")?)? != once.hash() || second != again.map(Table::hash) {
            return Err(BadFile("the device draws from other tables"));
        }
        let takes = |table: &Table| table.items().is_none() && !once.listed().is_empty();
        if !again.iter().all(|table| takes(table)) {
            return Err(BadFile("the second table does not take what the first one gives"));
        }
        let values: u64 = document.within("values", u64::from(again.is_some())..=4096)?;
        let reports: u64 = document.within("reports", 1..=10_000)?;
        let subject = Subject::device(&document.text("sha256")?)?;
        Ok(Device { once, again, subject, values: values as usize, reports: reports as u32 })
    }

    /// Begins without memory where there is no state to keep, with `allowance` reports left in the period: what the
    /// server grants, and 0 without its word, as nobody knows what was reported before a state was lost. `least` is
    /// the last serial known from elsewhere, or 0. A state that is there keeps its memory, and goes on to a period
    /// that is too far ahead for a report: on the word of another clock than the device's.
    pub fn create(
        &self,
        storage: &mut dyn Storage,
        period: u32,
        allowance: u32,
        least: u32,
    ) -> Result<(), DeviceError> {
        if period > MOST || allowance > self.reports || least >= MOST {
            return Err(DeviceError::BadNumber);
        }
        let (serial, entries) = match self.known(storage, least) {
            Ok(state) if period <= state.period + AHEAD => return Err(DeviceError::Present),
            Ok(state) if state.serial == MOST => return Err(DeviceError::Exhausted),
            Ok(state) => (state.serial, state.entries),
            Err(DeviceError::Missing | DeviceError::Damaged | DeviceError::RolledBack) => (least, Vec::new()),
            Err(error) => return Err(error),
        };
        let next = State { serial: serial + 1, period, made: self.reports - allowance, entries };
        storage.store(&self.written(&next)).map_err(DeviceError::Storage)
    }

    /// One report for the value held now, `x`, with the operating system's randomness.
    #[cfg(any(unix, windows))]
    pub fn report<'a>(
        &self,
        storage: &mut dyn Storage,
        x: impl Into<super::Input<'a>>,
        period: u32,
        least: u32,
    ) -> Result<Report<'t>, DeviceError> {
        let x = self.once.code(x.into())?;
        Ok(self.reporting().labelled(self.report_code(storage, x, period, least)?))
    }

    /// The same in numbers of the tables' files, also where there are labels.
    #[cfg(any(unix, windows))]
    pub fn report_code(
        &self,
        storage: &mut dyn Storage,
        x: impl Into<f64>,
        period: u32,
        least: u32,
    ) -> Result<Report<'static>, DeviceError> {
        self.reported(storage, x.into(), period, least, &mut |table, x| table.sample_code(x))
    }

    /// The same with another source, which overwrites all it is given with random bytes: for tests only.
    pub fn report_code_from(
        &self,
        storage: &mut dyn Storage,
        x: impl Into<f64>,
        period: u32,
        least: u32,
        fill: &mut Fill,
    ) -> Result<Report<'static>, DeviceError> {
        self.reported(storage, x.into(), period, least, &mut |table, x| table.sample_code_from(x, fill))
    }

    /// How many states were stored so far: keep it outside the storage, and give it as `least` next time.
    pub fn serial(&self, storage: &mut dyn Storage, least: u32) -> Result<u32, DeviceError> {
        Ok(self.known(storage, least)?.serial)
    }

    /// The envelope of a report of this device, as [`Table::envelope`].
    #[cfg(any(unix, windows))]
    pub fn envelope(&self, report: &Report<'_>, last_day: u32) -> Result<Vec<u8>, Error> {
        self.envelope_from(report, last_day, &mut system::read)
    }

    /// The same with another source, which overwrites all it is given with random bytes.
    pub fn envelope_from(&self, report: &Report<'_>, last_day: u32, fill: &mut Fill) -> Result<Vec<u8>, Error> {
        self.subject.envelope(self.reporting(), report, last_day, fill)
    }

    /// The table whose outputs are reported.
    pub(super) fn reporting(&self) -> &'t Table {
        self.again.unwrap_or(self.once)
    }

    fn reported(
        &self,
        storage: &mut dyn Storage,
        x: f64,
        period: u32,
        least: u32,
        draw: &mut dyn FnMut(&Table, f64) -> Result<Report<'static>, Error>,
    ) -> Result<Report<'static>, DeviceError> {
        if period > MOST {
            return Err(DeviceError::BadNumber);
        }
        let mut state = self.known(storage, least)?;
        if period < state.period {
            return Err(DeviceError::Past);
        }
        if period > state.period + AHEAD {
            return Err(DeviceError::Ahead);
        }
        if period > state.period {
            state.made = 0;
        }
        if state.made == self.reports || state.serial == MOST {
            return Err(DeviceError::Exhausted);
        }
        let fresh = draw(self.once, x)?; // also where it is thrown away: so a known value takes as many bytes as a new one
        let mut report = if self.values > 0 { self.remembered(&mut state, x, fresh) } else { fresh };
        if let (Some(again), Report::Number(y)) = (self.again, &report) {
            report = draw(again, *y)?;
        }
        state.serial += 1;
        state.period = period;
        state.made += 1;
        storage.store(&self.written(&state)).map_err(DeviceError::Storage)?;
        Ok(report)
    }

    /// What was drawn for a value, which is `fresh` for a new one. A value without room is taken for the last one.
    fn remembered(&self, state: &mut State, x: f64, fresh: Report<'static>) -> Report<'static> {
        let (key, drawn) = match &fresh {
            Report::Bytes(bytes) => ((x as u32).to_le_bytes().to_vec(), bytes.clone()),
            Report::Number(y) => ((x + 0.0).to_le_bytes().to_vec(), y.to_le_bytes().to_vec()), // minus zero is zero
            Report::Label(_) => unreachable!("a table draws numbers and bytes"),
        };
        let is_known = state.entries.chunks(self.entry()).any(|entry| entry.starts_with(&key));
        if !is_known && state.entries.len() < self.values * self.entry() {
            state.entries.extend(key.iter().chain(&drawn));
            return fresh;
        }
        let mut held = state.entries.chunks(self.entry());
        let entry = held.clone().find(|entry| entry.starts_with(&key)).or_else(|| held.next_back());
        let kept = &entry.expect("there is room for one value")[key.len()..];
        match fresh {
            Report::Bytes(_) => Report::Bytes(kept.to_vec()),
            _ => Report::Number(double(kept)),
        }
    }

    /// The bytes of an entry.
    fn entry(&self) -> usize {
        self.once.items().map_or(16, |(_, size)| 4 + size)
    }

    fn version(&self) -> u8 {
        self.once.items().map_or(1, |_| 2)
    }

    fn known(&self, storage: &mut dyn Storage, least: u32) -> Result<State, DeviceError> {
        if least > MOST {
            return Err(DeviceError::BadNumber);
        }
        let bytes = storage.load().map_err(DeviceError::Storage)?.unwrap_or_default();
        if bytes.is_empty() {
            return Err(DeviceError::Missing);
        }
        if bytes.len() < HEAD + 4 || !bytes.starts_with(b"mdstate") {
            return Err(DeviceError::Damaged);
        }
        let end = bytes.len() - 4;
        if checksum(&bytes[..end]) != word(&bytes[end..]) {
            return Err(DeviceError::Damaged);
        }
        if bytes[7] != self.version() || bytes[8..40] != self.subject.hash {
            return Err(DeviceError::Other);
        }
        let state = self.checked(&bytes[..end]).ok_or(DeviceError::Damaged)?;
        if state.serial < least {
            return Err(DeviceError::RolledBack);
        }
        Ok(state)
    }

    /// The state of these bytes before the checksum, if they are one.
    fn checked(&self, bytes: &[u8]) -> Option<State> {
        let (serial, period, made) = (word(&bytes[40..]), word(&bytes[44..]), word(&bytes[48..]));
        let held = word(&bytes[52..]) as usize;
        let is_counted = made <= self.reports && period <= MOST && (1..=MOST).contains(&serial) && held <= self.values;
        if !is_counted || bytes.len() != HEAD + self.entry() * self.values {
            return None;
        }
        let (entries, rest) = bytes[HEAD..].split_at(self.entry() * held);
        let key = if self.once.items().is_some() { 4 } else { 8 };
        for (i, entry) in entries.chunks(self.entry()).enumerate() {
            let is_new = entries.chunks(self.entry()).take(i).all(|other| other[..key] != entry[..key]);
            if !is_new || !self.is_entry(entry) {
                return None;
            }
        }
        let is_clean = rest.iter().all(|byte| *byte == 0);
        is_clean.then_some(State { serial, period, made, entries: entries.to_vec() })
    }

    fn is_entry(&self, entry: &[u8]) -> bool {
        if let Some((count, _)) = self.once.items() {
            return u64::from(word(entry)) < count;
        }
        let (x, y) = (double(entry), double(&entry[8..]));
        let is_named = self.again.is_none() && self.once.output_labels().is_some();
        let is_minus_zero = x == 0.0 && x.is_sign_negative();
        x.is_finite() && y.is_finite() && !is_minus_zero && (!is_named || self.once.listed().contains(&y))
    }

    fn written(&self, state: &State) -> Vec<u8> {
        let mut bytes = b"mdstate".to_vec();
        bytes.push(self.version());
        bytes.extend(self.subject.hash);
        let held = (state.entries.len() / self.entry()) as u32;
        for number in [state.serial, state.period, state.made, held] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(&state.entries);
        bytes.resize(HEAD + self.entry() * self.values, 0);
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn double(bytes: &[u8]) -> f64 {
    f64::from_bits(u64::from(word(&bytes[4..])) << 32 | u64::from(word(bytes)))
}

/// CRC-32, as in zip files.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !sum
}
