//! Random numbers from a stream of bytes, and what is decided by them: in whole numbers, so exactly.

use super::error::{Drawn, Error};
use std::cell::{Cell, RefCell};

/// A function that overwrites all it is given with random bytes.
pub type Fill<'a> = dyn FnMut(&mut [u8]) -> Result<(), Error> + 'a;

/// At most so many bytes are read at once.
pub const BLOCK: usize = 4096;

/// Random bytes that were read and are not used yet: the last ones but for 8 zeros, as numbers are read as words.
pub struct Block {
    bytes: RefCell<[u8; BLOCK + 8]>,
    left: Cell<usize>,
}

impl Block {
    pub const fn new() -> Block {
        Block { bytes: RefCell::new([0; BLOCK + 8]), left: Cell::new(0) }
    }

    /// In a child of fork().
    #[cfg(unix)]
    pub fn forget(&self) {
        self.left.set(0);
    }

    /// What is drawn from this block: bytes that were used are erased. `fill` reads the whole block where `can_pool`
    /// allows that, and else each number; without `can_pool` no bytes are set apart, either.
    #[inline]
    pub fn with<T>(&self, can_pool: Option<fn() -> bool>, fill: &mut Fill, draw: impl FnOnce(&mut Source) -> T) -> T {
        let begin = BLOCK - self.left.get();
        draw(&mut Source { bytes: &mut self.bytes.borrow_mut(), left: &self.left, begin, can_pool, fill })
    }
}

/// A stream of random bytes.
pub struct Source<'a> {
    bytes: &'a mut [u8; BLOCK + 8],
    left: &'a Cell<usize>,
    /// Where the bytes begin that were used here.
    begin: usize,
    can_pool: Option<fn() -> bool>,
    fill: &'a mut Fill<'a>,
}

impl Source<'_> {
    /// A report by a rule for which `apart` bytes are set apart before it begins, so as many for every input: what it
    /// does not need of them is passed over, and more are taken only where they do not suffice.
    #[inline]
    pub fn report<T>(&mut self, apart: usize, rule: impl FnOnce(&mut Self) -> Drawn<T>) -> Drawn<T> {
        let apart = self.can_pool.map_or(0, |_| apart);
        self.require(apart)?;
        let rest = self.left.get() - apart;
        let report = rule(self);
        if apart > 0 && self.left.get() > rest {
            self.left.set(rest);
        }
        report
    }

    #[inline]
    fn require(&mut self, count: usize) -> Drawn<()> {
        if self.left.get() < count {
            return self.read(count);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn read(&mut self, count: usize) -> Drawn<()> {
        let size = if matches!(self.can_pool, Some(can_pool) if can_pool()) { BLOCK } else { count };
        self.left.set(0);
        self.begin = 0;
        (self.fill)(&mut self.bytes[BLOCK - size..BLOCK])?;
        self.left.set(size);
        Ok(())
    }

    /// The low bits of as few whole bytes as hold them: 1 to 64 bits.
    #[inline]
    pub fn draw(&mut self, bits: u32) -> Drawn<u64> {
        let count = bytes_for(bits);
        self.require(count)?;
        let place = BLOCK - self.left.get();
        self.left.set(self.left.get() - count);
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[place..place + 8]);
        Ok(u64::from_le_bytes(word) & (u64::MAX >> (64 - bits)))
    }

    /// A uniform number from 0 to size - 1.
    pub fn below(&mut self, size: i64) -> Drawn<i64> {
        let bits = bits_of(size as u64);
        if bits == 0 {
            return Ok(0);
        }
        loop {
            let number = self.draw(bits)? as i64;
            if number < size {
                return Ok(number);
            }
        }
    }

    /// True with exactly this probability, below 1: its binary digits are compared with random ones.
    fn happens(&mut self, probability: f64) -> Drawn<bool> {
        let mut rest = probability;
        while rest > 0.0 {
            rest *= 4_294_967_296.0;
            let digits = rest as u64;
            let number = self.draw(32)?;
            if number != digits {
                return Ok(number < digits);
            }
            rest -= digits as f64;
        }
        Ok(false)
    }

    /// An integer next to z, below 2^62 in size, with mean exactly z.
    pub fn whole(&mut self, z: f64) -> Drawn<i64> {
        let size = z.abs();
        let number = size as i64 + i64::from(self.happens(size - size.floor())?);
        Ok(if z < 0.0 { -number } else { number })
    }
}

/// Nothing is remembered of what was drawn.
impl Drop for Source<'_> {
    #[inline]
    fn drop(&mut self) {
        let used = &mut self.bytes[self.begin..BLOCK - self.left.get()];
        match used.len() {
            4 => used[..4].fill(0), // sooner done than a call
            _ => used.fill(0),
        }
    }
}

/// XXH64 of a number as eight bytes, little-endian.
pub fn hash(number: u64, seed: u64) -> u64 {
    const P1: u64 = 11_400_714_785_074_694_791;
    const P2: u64 = 14_029_467_366_897_019_727;
    const P3: u64 = 1_609_587_929_392_839_161;
    const P4: u64 = 9_650_029_242_287_828_579;
    const P5: u64 = 2_870_177_450_012_600_261;
    let key = number.wrapping_mul(P2).rotate_left(31).wrapping_mul(P1);
    let mut state = (key ^ seed.wrapping_add(P5 + 8)).rotate_left(27);
    state = state.wrapping_mul(P1).wrapping_add(P4);
    state = (state ^ (state >> 33)).wrapping_mul(P2);
    state = (state ^ (state >> 29)).wrapping_mul(P3);
    state ^ (state >> 32)
}

/// How many bits the numbers below a size have.
pub fn bits_of(size: u64) -> u32 {
    64 - (size - 1).leading_zeros()
}

pub fn bytes_for(bits: u32) -> usize {
    ((bits + 7) / 8) as usize
}

/// How many bytes hold all numbers below `size`: at least one.
pub fn bytes_of(size: u64) -> usize {
    bytes_for(bits_of(size)).max(1)
}

/// In so many bytes [`Source::below`] finds its number, but for a chance of 2^-64.
pub fn bytes_below(size: i64) -> f64 {
    let bits = bits_of(size as u64);
    let refused = 1.0 - size as f64 / 2f64.powi(bits as i32);
    bytes_for(bits) as f64 * if refused == 0.0 { 1.0 } else { repeats_below(refused) }
}

/// So many repeats of this chance in a row have a chance of 2^-64.
pub fn repeats_below(chance: f64) -> f64 {
    (64.0 * std::f64::consts::LN_2 / -chance.ln()).ceil()
}
