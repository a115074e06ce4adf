//! The operating system's randomness, read in blocks, one for each thread. Bytes are erased as they are used, and a
//! child of fork() begins with none.
#![cfg(any(unix, windows, feature = "wasm"))]

use super::bits::Source;
use super::error::Error;
use super::system;
use std::cell::{Cell, RefCell};

const BLOCK: usize = 4096;

/// Numbers are read as words of 8 bytes, of which the last ones reach beyond the block.
type Block = [u8; BLOCK + 8];

thread_local! {
    static BYTES: RefCell<Block> = const { RefCell::new([0; BLOCK + 8]) };
    /// The last so many bytes of the block are not used yet.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// A report by a rule that draws from this thread's block. `apart` bytes are set apart for it before it begins, so as
/// many for every input; what it does not need of them is erased, and more are taken only where they do not suffice.
#[inline]
pub fn report<T>(apart: usize, rule: impl FnOnce(&mut Draws) -> Result<T, Error>) -> Result<T, Error> {
    let mut draws = Draws { word: 0, held: 0, next: 0, end: 0 };
    if (1..=8).contains(&apart) {
        draws.word = number(apart)?;
        draws.held = apart;
    } else {
        draws.next = taken(apart.min(BLOCK))?;
        draws.end = draws.next + apart.min(BLOCK);
    }
    let report = rule(&mut draws);
    draws.forget();
    report
}

/// Bytes that are set apart for a report: at most 8 as a number, and more where they are in the block.
pub struct Draws {
    word: u64,
    held: usize,
    next: usize,
    end: usize,
}

impl Draws {
    #[inline]
    fn forget(&mut self) {
        self.held = 0;
        if self.next < self.end {
            BYTES.with(|block| block.borrow_mut()[self.next..self.end].fill(0));
            self.next = self.end;
        }
    }
}

impl Source for Draws {
    #[inline(always)]
    fn number(&mut self, count: usize) -> Result<u64, Error> {
        if count <= self.held {
            let number = self.word & low_bytes(count);
            self.word = self.word.checked_shr(8 * count as u32).unwrap_or(0);
            self.held -= count;
            return Ok(number);
        }
        if count <= self.end - self.next {
            self.next += count;
            return Ok(word(self.next - count, count));
        }
        self.forget();
        number(count)
    }
}

#[inline]
fn number(count: usize) -> Result<u64, Error> {
    Ok(word(taken(count)?, count))
}

/// Where the next bytes of the block are, which nobody else takes.
#[inline]
fn taken(count: usize) -> Result<usize, Error> {
    if LEFT.with(Cell::get) < count {
        refill(count)?;
    }
    let left = LEFT.with(Cell::get);
    LEFT.with(|rest| rest.set(left - count));
    Ok(BLOCK - left)
}

#[cold]
#[inline(never)]
fn refill(count: usize) -> Result<(), Error> {
    LEFT.with(|left| left.set(0));
    let size = if system::can_pool() { BLOCK } else { count };
    BYTES.with(|block| system::read(&mut block.borrow_mut()[BLOCK - size..BLOCK]))?;
    LEFT.with(|left| left.set(size));
    Ok(())
}

/// The number at this place of the block, where it is erased.
#[inline]
fn word(place: usize, count: usize) -> u64 {
    let word = BYTES.with(|block| erased(&mut block.borrow_mut(), place, count));
    u64::from_le_bytes(word) & low_bytes(count)
}

/// Erased are as many bytes and no others, which are read next: a processor waits where it reads what it just wrote.
#[inline]
fn erased(block: &mut Block, place: usize, count: usize) -> [u8; 8] {
    let mut word = [0; 8];
    word.copy_from_slice(&block[place..place + 8]);
    let bytes = &mut block[place..place + count];
    let size = if count < 4 { count.min(2) } else { 4 };
    match size {
        4 => {
            bytes[..4].fill(0);
            bytes[count - 4..].fill(0);
        }
        2 => {
            bytes[..2].fill(0);
            bytes[count - 2..].fill(0);
        }
        _ => bytes.fill(0),
    }
    word
}

fn low_bytes(count: usize) -> u64 {
    u64::MAX >> (64 - 8 * count)
}

/// In a child of fork().
#[cfg(unix)]
pub extern "C" fn forget() {
    LEFT.try_with(|left| left.set(0)).unwrap_or(());
}
