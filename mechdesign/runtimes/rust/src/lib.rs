//! Reports under local differential privacy, drawn from tables of mechdesign.
//!
//! A [`Table`] is read from its file and checked for what drawing relies on; that its law is private is decided by
//! `mechdesign verify`, before it is shipped. [`Table::sample`] draws with the operating system's randomness: every
//! random decision compares integers, and without randomness there is [`Error::NoRandomness`] and no report.

#[macro_use]
mod packaged;

mod bits;
mod device;
mod envelope;
mod error;
mod items;
mod json;
mod law;
mod numbers;
mod system;
mod table;

#[cfg(feature = "files")]
mod storage;

#[cfg(feature = "wasm")]
mod wasm;

#[cfg(any(test, feature = "replay"))]
pub mod device_replay;
#[cfg(test)]
mod device_tests;
#[cfg(any(test, feature = "replay"))]
pub mod replay;
#[cfg(test)]
mod tests;

/// The tables of a package, and its device: the one file that an export writes.
mod tables;

pub use self::bits::Fill;
pub use self::device::{Device, DeviceError, Storage};
pub use self::error::{BadFile, Error};
#[cfg(feature = "files")]
pub use self::storage::FileStorage;
pub use self::table::{Input, Report, Subject, Table};
pub use self::tables::*;
