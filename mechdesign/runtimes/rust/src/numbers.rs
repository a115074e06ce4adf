//! Tables of numbers: windows, unbiased windows, lists of rows, pieces, and added noise.

use super::bits::{bytes_below, bytes_for, repeats_below, Source};
use super::error::{require, Drawn, Parsed, OTHER_KIND};
use super::law::{is_increasing, sums, Domain, Law, Statement};

const MOST_PLACE: f64 = 4_611_686_018_427_387_904.0;

pub fn window(table: &Statement) -> Parsed<Law> {
    let (rows, bits) = (Rows::read(table)?, table.bits);
    let thresholds = table.law.numbers("thresholds")?;
    require(rows.starts.len() == thresholds.len() + 1)?;
    require(thresholds.windows(2).all(|pair| pair[0] <= pair[1]))?;
    interval(table)?;
    law(table, rows.outputs.clone(), 0.0, move |x, _, source| {
        let row = thresholds.partition_point(|threshold| *threshold < x);
        Ok(rows.find(row, source.draw(bits)?))
    })
}

pub fn unbiased(table: &Statement) -> Parsed<Law> {
    let (rows, bits) = (Rows::read(table)?, table.bits);
    let means: Vec<i64> = table.law.get("means")?.scalars()?;
    require(means.len() > 1 && means.len() == rows.starts.len() && is_increasing(&means))?;
    require(means.iter().all(|mean| mean.unsigned_abs() < 1 << 62))?;
    let scaled = scaled(table, table.law.number("offset")?, power_of_two(table, bits)?, MOST_PLACE)?;
    let gaps = means.windows(2).map(|pair| bytes_below(pair[1] - pair[0]));
    law(table, rows.outputs.clone(), 8.0 + gaps.fold(0.0, f64::max), move |x, _, source| {
        let place = source.whole(scaled(x))?;
        let reached = means.partition_point(|mean| *mean <= place);
        let mut row = reached.saturating_sub(1).min(means.len() - 2);
        if source.below(means[row + 1] - means[row])? < place - means[row] {
            row += 1;
        }
        Ok(rows.find(row, source.draw(bits)?))
    })
}

pub fn finite(table: &Statement) -> Parsed<Law> {
    let outputs = table.law.increasing("outputs")?;
    let rows = table.law.get("rows")?.list()?;
    require(matches!(table.domain, Domain::Points(points) if points.len() == rows.len()))?;
    let mut reached = Vec::new();
    for row in rows {
        let row = table.sums_to_whole(&row.scalars()?)?;
        require(row.len() == outputs.len())?;
        reached.extend_from_slice(&row[..row.len() - 1]);
    }
    let (bits, size) = (table.bits, outputs.len() - 1); // of a row all sums but the last one, which is beyond all counts
    law(table, outputs.clone(), 0.0, move |_, row, source| {
        let count = source.draw(bits)?;
        let row = &reached[row as usize * size..][..size];
        Ok(outputs[row.partition_point(|sum| *sum <= count)])
    })
}

pub fn pieces(table: &Statement) -> Parsed<Law> {
    let stated = table.law;
    let cells: i64 = stated.within("cells", 2..=1 << 40)?;
    let inside = stated.within("inside", 1..=cells - 1)?;
    let outside = cells - inside;
    let weight = stated.within("weight", 1..=table.whole() - 1)?;
    let first: i64 = stated.within("first", 1 - (1 << 51)..=(1 << 51) - 1)?;
    let step = stated.number("step")?;
    let scaled = scaled(table, stated.number("anchor")?, stated.number("scale")?, 4_503_599_627_370_496.0)?;
    let (clamp, (_, _, is_circle), bits) = (clamp(table)?, interval(table)?, table.bits);
    law(table, Vec::new(), bytes_below(inside).max(bytes_below(outside)), move |x, _, source| {
        let place = scaled(x).floor() as i64;
        let start = if is_circle { place.rem_euclid(cells) } else { place.clamp(0, outside) };
        let is_near = source.draw(bits)? < weight;
        let cell = if is_near { source.below(inside)? } else { inside + source.below(outside)? };
        let cell = first + (start + cell) % cells;
        Ok(clamp((cell as f64 + 0.5) * step))
    })
}

pub fn additive(table: &Statement) -> Parsed<Law> {
    let (bits, whole) = (table.bits, table.whole());
    let reached = table.sums_to_whole(&table.law.get("weights")?.scalars()?)?;
    // noise ends within a block with a chance of at least 2^-16: nobody draws for ever
    let tail = table.law.within("tail", 1..=whole - (whole >> 16))?;
    let (offset, scale) = (table.law.number("offset")?, power_of_two(table, 0)?);
    let scaled = scaled(table, offset, scale, MOST_PLACE)?;
    let clamp = clamp(table)?;
    let further = tail as f64 / whole as f64;
    let zero = reached[0] as f64 / whole as f64 * (1.0 - further);
    let (blocks, attempts) = (repeats_below(further), 1.0 + repeats_below(zero / 2.0));
    let each = bytes_for(bits) as f64;
    law(table, Vec::new(), 8.0 + attempts * (1.0 + 2.0 * each) + blocks * each, move |x, _, source| {
        let place = source.whole(scaled(x))?;
        loop {
            let is_negative = source.draw(1)? == 1;
            let mut size = 0;
            while source.draw(bits)? < tail {
                size += reached.len() as i64;
            }
            let count = source.draw(bits)?;
            size += reached.partition_point(|sum| *sum <= count) as i64;
            if size > 0 || !is_negative {
                let noise = if is_negative { -size } else { size };
                // the scale is a power of two: dividing by it is exact
                return Ok(clamp(offset + (place + noise) as f64 / scale));
            }
        }
    })
}

/// A law of numbers. But for a chance of 2^-64 a report takes at most so many bytes `more` than a count.
fn law(
    table: &Statement,
    outputs: Vec<f64>,
    more: f64,
    draw: impl Fn(f64, u64, &mut Source) -> Drawn<f64> + Send + Sync + 'static,
) -> Parsed<Law> {
    let apart = bytes_for(table.bits).saturating_add(more as usize);
    Ok(Law::new(outputs, 8, apart, move |x, place, source, report| {
        report.copy_from_slice(&draw(x, place, source)?.to_le_bytes());
        Ok(())
    }))
}

/// Rows whose outputs nearest to the input have their caps, and all others their base.
struct Rows {
    outputs: Vec<f64>,
    starts: Vec<u64>,
    /// What the base counts reach up to each output, and how much the caps up to there add.
    ends: Vec<(u64, u64)>,
    extra: u64,
}

impl Rows {
    fn read(table: &Statement) -> Parsed<Rows> {
        let wholes = |key| table.law.get(key)?.scalars::<u64>();
        let (base, caps, starts) = (wholes("base")?, wholes("caps")?, wholes("starts")?);
        require(base.iter().zip(&caps).all(|(low, high)| low <= high))?;
        let ends: Vec<_> = sums(&base)?.into_iter().zip(sums(&caps)?).map(|(low, high)| (low, high - low)).collect();
        let outputs = table.law.increasing("outputs")?;
        require([base.len(), caps.len()] == [outputs.len(); 2])?;
        let (reached, gained) = *ends.last().ok_or(OTHER_KIND)?;
        let extra = table.whole().checked_sub(reached).ok_or(OTHER_KIND)?;
        require(starts.iter().all(|start| start.saturating_add(extra) <= gained))?;
        Ok(Rows { outputs, starts, ends, extra })
    }

    /// The output whose cumulative counts in a row enclose a count.
    fn find(&self, row: usize, count: u64) -> f64 {
        let more = |gained: u64| gained.saturating_sub(self.starts[row]).min(self.extra);
        self.outputs[self.ends.partition_point(|(reached, gained)| reached + more(*gained) <= count)]
    }
}

/// The ends of an interval, and whether it is a circle.
fn interval(table: &Statement) -> Parsed<(f64, f64, bool)> {
    match *table.domain {
        Domain::Interval { lower, upper, is_circle } => Ok((lower, upper, is_circle)),
        _ => Err(OTHER_KIND),
    }
}

/// Where an input is in units of a law: in all the domain below a bound.
fn scaled(table: &Statement, anchor: f64, scale: f64, bound: f64) -> Parsed<impl Fn(f64) -> f64 + 'static> {
    let scaled = move |x: f64| (x - anchor) * scale;
    let (lower, upper, _) = interval(table)?;
    require(scaled(lower).abs() < bound && scaled(upper).abs() < bound)?;
    Ok(scaled)
}

/// What outputs are moved to the ends by between which they are clamped, if they are.
fn clamp(table: &Statement) -> Parsed<impl Fn(f64) -> f64 + 'static> {
    let ends = match table.law.get("clamp")?.present() {
        None => vec![f64::NEG_INFINITY, f64::INFINITY],
        Some(_) => table.law.numbers("clamp")?,
    };
    require(ends.len() == 2 && ends[0] <= ends[1])?;
    let (lower, upper) = (ends[0], ends[1]);
    Ok(move |y: f64| y.clamp(lower, upper))
}

/// 2^(shift + more), exactly.
fn power_of_two(table: &Statement, more: u32) -> Parsed<f64> {
    let more = i64::from(more);
    let exponent = more + table.law.within("shift", -1000 - more..=1000 - more)?;
    Ok(f64::from_bits(((1023 + exponent) as u64) << 52))
}
