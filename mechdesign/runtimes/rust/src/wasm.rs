//! What JavaScript calls: numbers and texts go through one buffer, and randomness is imported.

use super::error::Error;
use super::system;
use super::table::{Report, Subject, Table};
use std::cell::RefCell;

#[derive(Default)]
struct Held {
    tables: Vec<Table>,
    /// What JavaScript gives, and what it is given: a report, or an envelope.
    buffer: Vec<u8>,
    number: f64,
}

thread_local! {
    static HELD: RefCell<Held> = RefCell::new(Held::default());
}

fn held<T>(use_it: impl FnOnce(&mut Held) -> T) -> T {
    HELD.with(|held| use_it(&mut held.borrow_mut()))
}

/// 0, or why there is no report: 1 is a bad input, 2 no randomness.
fn outcome(done: Result<(), Error>) -> i32 {
    match done {
        Ok(()) => 0,
        Err(Error::NoRandomness) => 2,
        Err(_) => 1,
    }
}

/// Where so many bytes may be written.
#[no_mangle]
pub extern "C" fn reserve(count: usize) -> *mut u8 {
    held(|held| {
        held.buffer = vec![0; count];
        held.buffer.as_mut_ptr()
    })
}

/// Where the bytes are of the last report or envelope.
#[no_mangle]
pub extern "C" fn bytes() -> *const u8 {
    held(|held| held.buffer.as_ptr())
}

/// How many they are.
#[no_mangle]
pub extern "C" fn size() -> usize {
    held(|held| held.buffer.len())
}

/// The last report that was a number.
#[no_mangle]
pub extern "C" fn number() -> f64 {
    held(|held| held.number)
}

/// Reads the table of the buffer: its number, or -1.
#[no_mangle]
pub extern "C" fn read_table() -> i32 {
    held(|held| match Table::read(&held.buffer) {
        Ok(table) => {
            held.tables.push(table);
            held.tables.len() as i32 - 1
        }
        Err(_) => -1,
    })
}

/// From now on envelopes of a table are of an attribute of the collection whose hash the buffer has in digits.
#[no_mangle]
pub extern "C" fn set_attribute(table: usize, attribute: u16) -> i32 {
    held(|held| {
        let collection = std::str::from_utf8(&held.buffer).unwrap_or_default();
        let subject = Subject::attribute(collection, attribute).map_err(|_| Error::BadInput);
        outcome(subject.map(|subject| held.tables[table].subject = subject))
    })
}

/// A report for a number of the file. Where it `asks`, bytes are asked for one by one: for tests only.
#[no_mangle]
pub extern "C" fn sample(table: usize, x: f64, asks: i32) -> i32 {
    held(|held| {
        let table = &held.tables[table];
        let report = if asks != 0 { table.sample_code_from(x, &mut system::read) } else { table.sample_code(x) };
        outcome(report.map(|report| match report {
            Report::Bytes(bytes) => held.buffer = bytes,
            Report::Number(y) => held.number = y,
            Report::Label(_) => unreachable!("a code is no label"),
        }))
    })
}

/// The envelope of a report: of the buffer's bytes for a table on items, else of the number y.
#[no_mangle]
pub extern "C" fn envelope(table: usize, y: f64, last_day: f64) -> i32 {
    held(|held| {
        let table = &held.tables[table];
        if !(last_day >= 0.0 && last_day <= f64::from(u32::MAX) && last_day.fract() == 0.0) {
            return outcome(Err(Error::BadInput));
        }
        let report = match table.items() {
            Some(_) => Report::Bytes(std::mem::take(&mut held.buffer)),
            None => Report::Number(y),
        };
        outcome(table.envelope(&report, last_day as u32).map(|content| held.buffer = content))
    })
}
