//! Tables on items: an item goes in, bytes come out. FORMAT.md calls the two procedures `choose` and `coins`.

use super::bits::{bytes_of, hash, Source};
use super::error::{BadFile, Error};
use super::json::Json;

pub struct Items {
    bits: u32,
    pub count: u64,
    /// Counts of 2^bits: of one's own group or bit, and of each other one.
    own: u64,
    other: u64,
    rule: Rule,
}

enum Rule {
    Response,
    Unary,
    Hashing { hashes: u64 },
    Subset { subset: usize },
    Hadamard { blocks: u64, place_bits: u32 },
    Sketch { function_bits: u32, buckets: u64 },
}

fn require(holds: bool) -> Result<(), BadFile> {
    if holds {
        Ok(())
    } else {
        Err(BadFile("its law is none of its kind"))
    }
}

impl Items {
    pub fn read(document: &Json, kind: &str, bits: u32) -> Result<Items, BadFile> {
        let (law, domain) = (document.get("law")?, document.get("domain")?);
        require(domain.get("kind")?.text()? == "items")?;
        let whole = |key: &str| Ok(law.get(key)?.whole()? as u64);
        let count = domain.get("count")?.whole()? as u64;
        require((2..=1 << 16).contains(&count))?;
        let rule = match kind {
            "response" => Rule::Response,
            "unary" => Rule::Unary,
            "hashing" => Rule::Hashing { hashes: whole("hashes")? },
            "subset" => Rule::Subset { subset: whole("subset")? as usize },
            "hadamard" => {
                let blocks = whole("blocks")?;
                require(blocks.is_power_of_two() && blocks <= count.next_power_of_two())?;
                let rows = (count - 1) / blocks + 1;
                Rule::Hadamard { blocks, place_bits: 64 - rows.leading_zeros() }
            }
            _ => {
                let functions = whole("functions")?;
                require(functions.is_power_of_two() && (2..=1024).contains(&functions))?;
                Rule::Sketch { function_bits: functions.trailing_zeros(), buckets: whole("buckets")? }
            }
        };
        let (own, other) = match rule {
            Rule::Unary | Rule::Sketch { .. } => (read_bit(law, "own_bit", bits)?, read_bit(law, "other_bit", bits)?),
            _ => (whole("own")?, whole("other")?),
        };
        let items = Items { bits, count, own, other, rule };
        items.require_law()?;
        Ok(items)
    }

    fn require_law(&self) -> Result<(), BadFile> {
        let groups = match self.rule {
            Rule::Response => self.count,
            Rule::Hashing { hashes } => hashes,
            Rule::Hadamard { blocks, .. } => 2 * blocks,
            Rule::Subset { subset } => {
                require(0 < subset && (subset as u64) < self.count)?;
                2
            }
            Rule::Sketch { buckets, .. } => return require((2..=1 << 14).contains(&buckets)),
            Rule::Unary => return Ok(()),
        };
        require((2..=1 << 31).contains(&groups) && self.own > 0 && self.other > 0)?;
        require(u128::from(self.own) + u128::from(groups - 1) * u128::from(self.other) == 1 << self.bits)
    }

    pub fn report_bytes(&self) -> usize {
        match self.rule {
            Rule::Response => bytes_of(self.count),
            Rule::Unary | Rule::Subset { .. } => (self.count as usize + 7) / 8,
            Rule::Hashing { hashes } => 8 + bytes_of(hashes),
            Rule::Hadamard { blocks, place_bits } => bytes_of(blocks << place_bits),
            Rule::Sketch { function_bits, buckets } => bytes_of(1 << function_bits) + (buckets as usize + 7) / 8,
        }
    }

    /// A report of an item below `count`, into bytes that are zeros.
    #[inline]
    pub fn draw(&self, item: u64, report: &mut [u8], source: &mut impl Source) -> Result<(), Error> {
        match self.rule {
            Rule::Response => put(self.choose(self.count, item, source)?, report),
            Rule::Unary => self.coins(self.count, item, report, source)?,
            Rule::Hashing { hashes } => {
                let seed = source.draw(64)?;
                let (head, rest) = report.split_at_mut(8);
                put(seed, head);
                put(self.choose(hashes, hash(item, seed) % hashes, source)?, rest);
            }
            Rule::Subset { subset } => {
                let holds = source.draw(self.bits)? < self.own;
                let mut others: Vec<u64> = (1..self.count).map(|step| (item + step) % self.count).collect();
                for place in 0..subset {
                    let chosen = place + source.below(self.count - 1 - place as u64)? as usize;
                    others.swap(place, chosen);
                }
                if holds {
                    others[subset - 1] = item;
                }
                for member in &others[..subset] {
                    report[(member / 8) as usize] |= 1 << (member % 8);
                }
            }
            Rule::Hadamard { blocks, place_bits } => {
                let row = item / blocks + 1;
                let group = self.choose(2 * blocks, 2 * (item % blocks), source)?;
                let mut place = source.draw(place_bits)?;
                if u64::from((place & row).count_ones() % 2) != group % 2 {
                    place ^= row & row.wrapping_neg();
                }
                put(((group / 2) << place_bits) | place, report);
            }
            Rule::Sketch { function_bits, buckets } => {
                let function = source.draw(function_bits)?;
                let (head, rest) = report.split_at_mut(bytes_of(1 << function_bits));
                put(function, head);
                self.coins(buckets, hash(item, function) % buckets, rest, source)?;
            }
        }
        Ok(())
    }

    /// One of the groups by one draw.
    fn choose(&self, groups: u64, mine: u64, source: &mut impl Source) -> Result<u64, Error> {
        let count = source.draw(self.bits)?;
        if count < self.own {
            return Ok(mine);
        }
        let (beyond, other) = (count - self.own, self.other);
        // short numbers are divided sooner
        let further = if self.bits > 32 { beyond / other } else { u64::from(beyond as u32 / other as u32) };
        let group = mine + 1 + further;
        Ok(if group < groups { group } else { group - groups })
    }

    /// As many bits, each 1 by one draw; bit v is bit v % 8 of byte v / 8.
    fn coins(&self, width: u64, mine: u64, report: &mut [u8], source: &mut impl Source) -> Result<(), Error> {
        for place in 0..width {
            let chance = if place == mine { self.own } else { self.other };
            let is_one = source.draw(self.bits)? < chance;
            report[(place / 8) as usize] |= u8::from(is_one) << (place % 8);
        }
        Ok(())
    }
}

/// How many counts of a bit are for 1.
fn read_bit(law: &Json, key: &str, bits: u32) -> Result<u64, BadFile> {
    match law.get(key)?.wholes()?[..] {
        [zero, one] if zero > 0 && one > 0 => {
            require(u128::from(zero as u64) + u128::from(one as u64) == 1 << bits)?;
            Ok(one as u64)
        }
        _ => Err(BadFile("a bit has no two counts")),
    }
}

/// A number as so many bytes, little-endian.
fn put(number: u64, bytes: &mut [u8]) {
    for (byte, own) in bytes.iter_mut().zip(number.to_le_bytes()) {
        *byte = own; // sooner done than a call
    }
}
