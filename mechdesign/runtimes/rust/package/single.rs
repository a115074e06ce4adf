//! One table of mechdesign, and the runtime that draws from it: `TABLE.sample(x)`, with the operating system's
//! randomness, or an error and no report. Rust 1.82 and later.

#![allow(dead_code, unexpected_cfgs, unused_imports)]

pub use self::bits::Fill;
pub use self::error::{BadFile, Error};
pub use self::table::{Input, Report, Table};

/// The table, which is read when it is first used.
pub static TABLE: std::sync::LazyLock<Table> =
    std::sync::LazyLock::new(|| Table::read(JSON).expect("a table that was checked before it was exported"));
