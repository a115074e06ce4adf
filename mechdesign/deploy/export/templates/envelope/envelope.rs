//! Envelopes for reports of the table with SHA-256
//!
//! `@sha@`
//!
//! written by mechdesign: bytes that a collector reads (`mechdesign collect-reports`), in the one form that its file format
//! has. The nonce, by which an envelope counts once, is the operating system's, asked for each envelope.

#![allow(unknown_lints)]
#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]

use crate::@name@::Error;
// @if labels
use crate::@name@::OUTPUT_LABELS;
// @end
// @if bytes
use crate::@name@::REPORT_BYTES;
// @end

/// The letters mdre, version 1, and of what the hash is: of @of@.
const HEAD: [u8; 8] = [@head@];
const HASH: [u8; 32] = [
@hash_numbers@,
];
/// 9999-12-31.
const LAST_DAY: u32 = 2932896;
// @if listed
@OUTPUTS@
// @end

/// The envelope of a report that `sample` gave. It counts until the end (UTC) of the day `last_day`, in days since
/// 1970-01-01. `BadInput` if either cannot be.
#[cfg(any(unix, windows))]
pub fn envelope(report: @given@, last_day: u32) -> Result<Vec<u8>, Error> {
    envelope_from(report, last_day, &mut system::bytes)
}

/// The same with another source of bytes, which overwrites all it is given: for tests, and for systems without one.
pub fn envelope_from(
    report: @given@,
    last_day: u32,
    fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    if last_day > LAST_DAY {
        return Err(Error::BadInput);
    }
// @if labels
    let place = OUTPUT_LABELS.iter().position(|label| *label == report).ok_or(Error::BadInput)?;
    let written = &(place as u64).to_le_bytes()[..@size@];
// @end
// @if listed
    let place = OUTPUTS.iter().position(|output| *output == report).ok_or(Error::BadInput)?;
    let written = &(place as u64).to_le_bytes()[..@size@];
// @end
// @if double
    if !report.is_finite() {
        return Err(Error::BadInput);
    }
    let written = &(report + 0.0).to_le_bytes();
// @end
// @if bytes
    let written: &[u8; REPORT_BYTES] = &report;
// @end
    let mut nonce = [0u8; 16];
    fill(&mut nonce)?;
    let mut content = Vec::with_capacity(60 + written.len());
    content.extend_from_slice(&HEAD);
    content.extend_from_slice(&last_day.to_le_bytes());
    content.extend_from_slice(&HASH);
    content.extend_from_slice(&nonce);
    content.extend_from_slice(written);
    Ok(content)
}

#[cfg(any(unix, windows))]
mod system {
    use super::Error;

    /// Random bytes of the operating system.
    pub fn bytes(bytes: &mut [u8]) -> Result<(), Error> {
        read(bytes)
    }

// @include randomness/read.rs
}
