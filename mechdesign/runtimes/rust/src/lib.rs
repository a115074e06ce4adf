//! Reports under local differential privacy, drawn from tables of mechdesign.
//!
//! A [`Table`] is read from its file and checked for what drawing relies on; that its law is private is decided by
//! `mechdesign verify`, before it is shipped. [`Table::sample`] draws with the operating system's randomness: every
//! random decision compares integers, and without randomness there is [`Error::NoRandomness`] and no report.

mod bits;
mod device;
mod envelope;
mod error;
mod items;
mod json;
mod numbers;
mod pool;
mod system;
mod table;

#[cfg(feature = "files")]
mod storage;

#[cfg(feature = "wasm")]
mod wasm;

#[cfg(any(test, feature = "replay"))]
pub mod replay;
#[cfg(test)]
mod tests;

/// Tables that are read when they are first used, the list of them, and the device that draws from them.
macro_rules! tables {
    (
        $($name:ident = $content:expr $(=> $of:ident($($said:literal),*))?;)*
        $(@$device:ident = $file:expr => $once:ident, $again:expr;)?
    ) => {
        $(
            pub static $name: std::sync::LazyLock<super::Table> = std::sync::LazyLock::new(|| {
                let table = super::Table::read($content).expect("a table that was checked before it was exported");
                $(let table = table.of(super::Subject::$of($($said),*).expect("its hash"));)?
                table
            });
        )*

        $(
            pub static $device: std::sync::LazyLock<super::Device<'static>> = std::sync::LazyLock::new(|| {
                super::Device::read($file, &$once, $again).expect("a device that was checked before it was exported")
            });
        )?

        /// All tables, by name.
        pub static ALL: &[(&str, fn() -> &'static super::Table)] = &[$((stringify!($name), || &$name)),*];
    };
}

/// The tables of a package, and its device: the one file that an export writes.
mod tables;

pub use self::device::{Device, DeviceError, Storage};
pub use self::envelope::Subject;
pub use self::error::{BadFile, Error};
#[cfg(feature = "files")]
pub use self::storage::FileStorage;
pub use self::table::{Input, Report, Table};
pub use self::tables::*;
