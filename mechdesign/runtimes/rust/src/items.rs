//! Tables on items: an item goes in, bytes come out. FORMAT.md calls the two procedures `choose` and `coins`.

use super::bits::{bits_of, bytes_for, bytes_of, hash, Source};
use super::error::{require, Drawn, Parsed, OTHER_KIND};
use super::law::{Domain, Law, Statement};

pub fn response(table: &Statement) -> Parsed<Law> {
    let count = count(table)?;
    let choose = choose(table, count)?;
    law(bytes_of(count), move |item, source, report| {
        put(choose(item, source)?, report);
        Ok(())
    })
}

pub fn unary(table: &Statement) -> Parsed<Law> {
    let count = count(table)?;
    law(bytes_for(count as u32), coins(table, count)?)
}

pub fn hashing(table: &Statement) -> Parsed<Law> {
    let hashes = table.law.within("hashes", 2..=1 << 31)?;
    let choose = choose(table, hashes)?;
    law(8 + bytes_of(hashes), move |item, source, report| {
        let seed = source.draw(64)?;
        put(seed, &mut report[..8]);
        put(choose(hash(item, seed) % hashes, source)?, &mut report[8..]);
        Ok(())
    })
}

pub fn subset(table: &Statement) -> Parsed<Law> {
    let count = count(table)?;
    let subset = table.law.within("subset", 1..=count - 1)? as usize;
    let choose = choose(table, 2)?;
    law(bytes_for(count as u32), move |item, source, report| {
        let holds = choose(0, source)? == 0;
        let mut others: Vec<u64> = (1..count).map(|step| (item + step) % count).collect();
        for place in 0..subset {
            let chosen = place + source.below((others.len() - place) as i64)? as usize;
            others.swap(place, chosen);
        }
        if holds {
            others[subset - 1] = item;
        }
        for member in &others[..subset] {
            report[(member / 8) as usize] |= 1 << (member % 8);
        }
        Ok(())
    })
}

pub fn hadamard(table: &Statement) -> Parsed<Law> {
    let count = count(table)?;
    let blocks: u64 = table.law.within("blocks", 1..=count.next_power_of_two())?;
    require(blocks.is_power_of_two())?;
    let place_bits = bits_of((count - 1) / blocks + 2);
    let choose = choose(table, 2 * blocks)?;
    law(bytes_of(blocks << place_bits), move |item, source, report| {
        let row = item / blocks + 1;
        let group = choose(2 * (item % blocks), source)?;
        let mut place = source.draw(place_bits)?;
        if u64::from((place & row).count_ones() % 2) != group % 2 {
            place ^= row & row.wrapping_neg();
        }
        put(((group / 2) << place_bits) | place, report);
        Ok(())
    })
}

pub fn sketch(table: &Statement) -> Parsed<Law> {
    let functions: u64 = table.law.within("functions", 2..=1024)?;
    require(functions.is_power_of_two())?;
    let buckets = table.law.within("buckets", 2..=1 << 14)?;
    let (coins, head) = (coins(table, buckets)?, bytes_of(functions));
    law(head + bytes_for(buckets as u32), move |item, source, report| {
        let function = source.draw(bits_of(functions))?;
        put(function, &mut report[..head]);
        coins(hash(item, function) % buckets, source, &mut report[head..])
    })
}

fn count(table: &Statement) -> Parsed<u64> {
    match *table.domain {
        Domain::Items(count) => Ok(count),
        _ => Err(OTHER_KIND),
    }
}

/// A law whose reports have so many bytes.
fn law(size: usize, write: impl Fn(u64, &mut Source, &mut [u8]) -> Drawn<()> + Send + Sync + 'static) -> Parsed<Law> {
    Ok(Law::new(Vec::new(), size, 0, move |_, item, source, report| write(item, source, report)))
}

/// One of the groups by one draw: `own` counts are for mine, and `other` for each other one.
fn choose(table: &Statement, groups: u64) -> Parsed<impl Fn(u64, &mut Source) -> Drawn<u64> + 'static> {
    let (bits, whole) = (table.bits, table.whole());
    let own: u64 = table.law.within("own", 1..=whole)?;
    let other: u64 = table.law.within("other", 1..=whole)?;
    require(u128::from(own) + u128::from(groups - 1) * u128::from(other) == whole.into())?;
    Ok(move |mine, source: &mut Source| {
        let count = source.draw(bits)?;
        // a branch would be guessed wrong half the time, and short numbers are divided sooner
        let beyond = count.saturating_sub(own);
        let further = if bits > 32 { beyond / other } else { u64::from(beyond as u32 / other as u32) };
        let group = mine + u64::from(count >= own) + further;
        Ok(if group < groups { group } else { group - groups })
    })
}

/// As many bits, each 1 by one draw; bit v is bit v % 8 of byte v / 8.
fn coins(table: &Statement, width: u64) -> Parsed<impl Fn(u64, &mut Source, &mut [u8]) -> Drawn<()> + 'static> {
    let ones = |key| {
        let counts: Vec<u64> = table.law.get(key)?.scalars()?;
        require(counts.len() == 2)?;
        table.sums_to_whole(&counts).map(|_| counts[1])
    };
    let (bits, own, other) = (table.bits, ones("own_bit")?, ones("other_bit")?);
    Ok(move |mine, source: &mut Source, report: &mut [u8]| {
        for place in 0..width {
            let chance = if place == mine { own } else { other };
            let is_one = source.draw(bits)? < chance;
            report[(place / 8) as usize] |= u8::from(is_one) << (place % 8);
        }
        Ok(())
    })
}

/// A number as so many bytes, little-endian.
fn put(number: u64, bytes: &mut [u8]) {
    for (byte, own) in bytes.iter_mut().zip(number.to_le_bytes()) {
        *byte = own; // sooner done than a call
    }
}
