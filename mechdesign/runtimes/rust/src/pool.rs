//! The operating system's randomness, read in blocks, one for each thread. Bytes are erased as they are used, and a
//! child of fork() begins with none.

use super::bits::Source;
use super::error::Error;
use super::system;
use std::cell::{Cell, RefCell};

const BLOCK: usize = 4096;

struct Pool {
    /// Numbers are read and erased as words of 8 bytes, of which the last ones reach beyond the block.
    block: RefCell<[u8; BLOCK + 8]>,
    /// The last so many bytes of the block are not used yet.
    left: Cell<usize>,
}

thread_local! {
    static POOL: Pool = const { Pool { block: RefCell::new([0; BLOCK + 8]), left: Cell::new(0) } };
}

/// A report by a rule that draws from this thread's block. `apart` bytes are set apart for it before it begins, so as
/// many for every input; what it does not need of them is erased, and more are taken only where they do not suffice.
#[inline]
pub fn report<T>(apart: usize, rule: impl FnOnce(&mut Draws<'_>) -> Result<T, Error>) -> Result<T, Error> {
    POOL.with(|pool| {
        let mut block = pool.block.borrow_mut();
        let mut draws = Draws { block: &mut block, left: &pool.left, next: 0, end: 0 };
        draws.set_apart(apart.min(BLOCK))?;
        let report = rule(&mut draws);
        draws.forget();
        report
    })
}

pub struct Draws<'a> {
    block: &'a mut [u8; BLOCK + 8],
    left: &'a Cell<usize>,
    /// Where the bytes are that are set apart.
    next: usize,
    end: usize,
}

impl Draws<'_> {
    #[inline]
    fn set_apart(&mut self, count: usize) -> Result<(), Error> {
        self.next = self.taken(count)?;
        self.end = self.next + count;
        Ok(())
    }

    #[inline]
    fn forget(&mut self) {
        if self.next < self.end {
            self.block[self.next..self.end].fill(0);
            self.next = self.end;
        }
    }

    /// Where the next bytes of the block are, which nobody else takes.
    #[inline]
    fn taken(&mut self, count: usize) -> Result<usize, Error> {
        if self.left.get() < count {
            self.refill(count)?;
        }
        let left = self.left.get();
        self.left.set(left - count);
        Ok(BLOCK - left)
    }

    #[cold]
    fn refill(&mut self, count: usize) -> Result<(), Error> {
        self.left.set(0);
        let size = if system::can_pool() { BLOCK } else { count };
        system::read(&mut self.block[BLOCK - size..BLOCK])?;
        self.left.set(size);
        Ok(())
    }
}

impl Source for Draws<'_> {
    #[inline]
    fn number(&mut self, count: usize) -> Result<u64, Error> {
        let mut place = self.next;
        if count <= self.end - place {
            self.next += count;
        } else {
            self.forget();
            place = self.taken(count)?;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.block[place..place + 8]);
        erase(&mut self.block[place..place + count]);
        Ok(u64::from_le_bytes(word) & (u64::MAX >> (64 - 8 * count)))
    }
}

/// Zeros in at most 8 bytes and no others, which are read next: a processor waits where it reads what it just wrote.
#[inline]
fn erase(bytes: &mut [u8]) {
    let count = bytes.len();
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
}

/// In a child of fork().
#[cfg(unix)]
pub extern "C" fn forget() {
    POOL.try_with(|pool| pool.left.set(0)).unwrap_or(());
}
