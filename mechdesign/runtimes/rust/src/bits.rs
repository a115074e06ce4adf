//! Random numbers from a stream of bytes, and what is decided by them: in whole numbers, so exactly.

use super::error::Error;

/// A stream of random bytes.
pub trait Source {
    /// The number that the next `count` bytes are, little-endian: at most 8 of them.
    fn number(&mut self, count: usize) -> Result<u64, Error>;

    /// The low bits of as few whole bytes as hold them: at most 64 bits.
    #[inline(always)]
    fn draw(&mut self, bits: u32) -> Result<u64, Error> {
        if bits == 0 {
            return Ok(0);
        }
        Ok(self.number(((bits + 7) / 8) as usize)? & (u64::MAX >> (64 - bits)))
    }

    /// A uniform number from 0 to size - 1.
    fn below(&mut self, size: u64) -> Result<u64, Error> {
        let bits = 64 - (size - 1).leading_zeros();
        loop {
            let number = self.draw(bits)?;
            if number < size {
                return Ok(number);
            }
        }
    }

    /// True with exactly this probability, below 1: its binary digits are compared with random ones.
    fn happens(&mut self, probability: f64) -> Result<bool, Error> {
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
    fn whole(&mut self, z: f64) -> Result<i64, Error> {
        let size = z.abs();
        let number = size as i64 + i64::from(self.happens(size - size.floor())?);
        Ok(if z < 0.0 { -number } else { number })
    }
}

/// A function that overwrites all it is given with random bytes, as a source.
pub struct Filled<'a>(pub &'a mut dyn FnMut(&mut [u8]) -> Result<(), Error>);

impl Source for Filled<'_> {
    fn number(&mut self, count: usize) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes[..count])?;
        Ok(u64::from_le_bytes(bytes))
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

/// How many bytes hold all numbers below `size`: at least one.
pub fn bytes_of(size: u64) -> usize {
    ((71 - (size - 1).leading_zeros()) as usize / 8).max(1)
}

/// In so many bytes [`Source::below`] finds its number, but for a chance of 2^-64.
pub fn bytes_below(size: u64) -> f64 {
    let bits = 64 - (size - 1).leading_zeros();
    let refused = 1.0 - size as f64 / 2f64.powi(bits as i32);
    let each = f64::from((bits + 7) / 8);
    if refused == 0.0 {
        each
    } else {
        each * repeats_below(refused).ceil()
    }
}

/// So many repeats of this chance in a row have a chance of 2^-64.
pub fn repeats_below(chance: f64) -> f64 {
    64.0 * std::f64::consts::LN_2 / -chance.ln()
}
