use std::fmt;

/// Why there is no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The input is not in the domain of the table.
    BadInput,
    /// The operating system gave no randomness.
    NoRandomness,
}

/// Why a file is no table that can be drawn from, or no device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadFile(pub &'static str);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::BadInput => "the input must lie in the domain of the table",
            Error::NoRandomness => "the operating system gave no randomness",
        })
    }
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Error {}
impl std::error::Error for BadFile {}

/// What is read from a file.
pub type Parsed<T> = Result<T, BadFile>;

/// What is drawn.
pub type Drawn<T> = Result<T, Error>;

pub const OTHER_KIND: BadFile = BadFile("its law or its domain is none of its kind");

/// What a file must hold to be drawn from.
pub fn require(holds: bool) -> Result<(), BadFile> {
    holds.then_some(()).ok_or(OTHER_KIND)
}
