//! Tables of numbers: windows, unbiased windows, lists of rows, pieces, and added noise.

use super::bits::{bytes_below, repeats_below, Source};
use super::error::{BadFile, Error};
use super::json::Json;

pub struct Numbers {
    bits: u32,
    domain: Domain,
    /// The outputs, where the law lists them; else there are none.
    pub outputs: Vec<f64>,
    rule: Rule,
}

enum Domain {
    Between(f64, f64),
    Points(Vec<f64>),
}

enum Rule {
    Window {
        rows: Rows,
        thresholds: Vec<f64>,
    },
    Unbiased {
        rows: Rows,
        means: Vec<i64>,
        offset: f64,
        scale: f64,
    },
    /// Of all rows the sums of the counts up to each output, one row after the other.
    Finite {
        sums: Vec<u64>,
    },
    Pieces(Pieces),
    Additive {
        offset: f64,
        scale: f64,
        sums: Vec<u64>,
        tail: u64,
        clamp: Clamp,
    },
}

struct Pieces {
    cells: i64,
    inside: i64,
    weight: u64,
    first: i64,
    step: f64,
    anchor: f64,
    scale: f64,
    is_circle: bool,
    clamp: Clamp,
}

type Clamp = Option<(f64, f64)>;

/// Rows whose outputs nearest to the input have their caps, and all others their base.
struct Rows {
    /// For each output the base counts before it, and how much the caps before it add.
    before: Vec<(i64, i64)>,
    starts: Vec<i64>,
    extra: i64,
}

const BAD_LAW: BadFile = BadFile("its law is none of its kind");
const BAD_DOMAIN: BadFile = BadFile("its domain is none of its kind");

fn require(holds: bool) -> Result<(), BadFile> {
    if holds {
        Ok(())
    } else {
        Err(BAD_LAW)
    }
}

impl Numbers {
    pub fn read(document: &Json, kind: &str, bits: u32) -> Result<Numbers, BadFile> {
        let law = document.get("law")?;
        let (domain, is_circle) = read_domain(document.get("domain")?)?;
        let outputs = match kind {
            "pieces" | "additive" => Vec::new(),
            _ => law.get("outputs")?.numbers()?,
        };
        let rule = match kind {
            "window" => {
                let rule = Rule::Window {
                    rows: Rows::read(law, outputs.len(), bits)?,
                    thresholds: law.get("thresholds")?.numbers()?,
                };
                if let Rule::Window { rows, thresholds } = &rule {
                    require(rows.starts.len() == thresholds.len() + 1)?;
                    require(thresholds.windows(2).all(|pair| pair[0] <= pair[1]))?;
                }
                rule
            }
            "unbiased" => {
                let rows = Rows::read(law, outputs.len(), bits)?;
                let means = law.get("means")?.wholes()?;
                require(means.len() > 1 && means.len() == rows.starts.len() && is_increasing(&means))?;
                require(means.iter().all(|mean| mean.unsigned_abs() < MOST_PLACE))?;
                let shift = law.get("shift")?.whole()?.checked_add(i64::from(bits)).ok_or(BAD_LAW)?;
                Rule::Unbiased { rows, means, offset: law.get("offset")?.number()?, scale: power_of_two(shift)? }
            }
            "finite" => Rule::Finite { sums: read_rows(law, &domain, outputs.len(), bits)? },
            "pieces" => Rule::Pieces(Pieces::read(law, is_circle, bits)?),
            _ => {
                let sums = sums_of(&law.get("weights")?.wholes()?, bits)?;
                let tail = law.get("tail")?.whole()?;
                // noise ends within a block with a chance of at least 2^-16: nobody draws for ever
                require(0 < tail && tail <= (1 << bits) - (1 << (bits - 16)))?;
                Rule::Additive {
                    offset: law.get("offset")?.number()?,
                    scale: power_of_two(law.get("shift")?.whole()?)?,
                    sums,
                    tail: tail as u64,
                    clamp: read_clamp(law)?,
                }
            }
        };
        let numbers = Numbers { bits, domain, outputs, rule };
        numbers.require_places()?;
        Ok(numbers)
    }

    /// Between the ends of the domain everything is in the range of whole numbers.
    fn require_places(&self) -> Result<(), BadFile> {
        let (anchor, scale, most) = match &self.rule {
            Rule::Unbiased { offset, scale, .. } | Rule::Additive { offset, scale, .. } => {
                (*offset, *scale, MOST_PLACE as f64)
            }
            Rule::Pieces(pieces) => (pieces.anchor, pieces.scale, 4_503_599_627_370_496.0),
            Rule::Window { .. } | Rule::Finite { .. } => (0.0, 0.0, 1.0),
        };
        match (&self.domain, &self.rule) {
            (Domain::Points(_), Rule::Finite { .. }) => Ok(()),
            (Domain::Points(_), _) | (Domain::Between(..), Rule::Finite { .. }) => Err(BAD_DOMAIN),
            (Domain::Between(lower, upper), _) => {
                require([lower, upper].iter().all(|end| ((**end - anchor) * scale).abs() < most))
            }
        }
    }

    /// The point of the domain with this number.
    pub fn point(&self, place: usize) -> Option<f64> {
        match &self.domain {
            Domain::Points(points) => points.get(place).copied(),
            Domain::Between(..) => None,
        }
    }

    /// How many inputs have a number.
    pub fn points(&self) -> usize {
        match &self.domain {
            Domain::Points(points) => points.len(),
            Domain::Between(..) => 0,
        }
    }

    /// A report takes so many random bytes; but for a chance of about 2^-64 they suffice.
    pub fn enough_bytes(&self) -> f64 {
        let each = f64::from((self.bits + 7) / 8);
        match &self.rule {
            Rule::Window { .. } | Rule::Finite { .. } => each,
            Rule::Unbiased { means, .. } => {
                let gaps = means.windows(2).map(|pair| bytes_below((pair[1] - pair[0]) as u64));
                each + 8.0 + gaps.fold(0.0, f64::max)
            }
            Rule::Pieces(pieces) => {
                let outside = (pieces.cells - pieces.inside) as u64;
                each + bytes_below(pieces.inside as u64).max(bytes_below(outside))
            }
            Rule::Additive { sums, tail, .. } => {
                let whole = (1u64 << self.bits) as f64;
                let further = *tail as f64 / whole;
                let zero = sums[0] as f64 / whole * (1.0 - further);
                let blocks = 1.0 + repeats_below(further).ceil();
                let attempts = 1.0 + repeats_below(zero / 2.0).ceil();
                8.0 + attempts * (1.0 + 2.0 * each) + blocks * each
            }
        }
    }

    #[inline]
    pub fn draw(&self, x: f64, source: &mut impl Source) -> Result<f64, Error> {
        let row = self.row(x)?;
        match &self.rule {
            Rule::Window { rows, thresholds } => {
                let row = thresholds.partition_point(|threshold| *threshold < x);
                Ok(self.outputs[rows.find(row, source.draw(self.bits)?)])
            }
            Rule::Unbiased { rows, means, offset, scale } => {
                let place = source.whole((x - offset) * scale)?;
                let reached = means.partition_point(|mean| *mean <= place);
                let mut row = reached.saturating_sub(1).min(means.len() - 2);
                let step = source.below((means[row + 1] - means[row]) as u64)?;
                if (step as i64) < place - means[row] {
                    row += 1;
                }
                Ok(self.outputs[rows.find(row, source.draw(self.bits)?)])
            }
            Rule::Finite { sums } => {
                let size = self.outputs.len();
                let count = source.draw(self.bits)?;
                let sums = &sums[row * size..(row + 1) * size];
                Ok(self.outputs[sums.partition_point(|sum| *sum <= count)])
            }
            Rule::Pieces(pieces) => pieces.draw(x, self.bits, source),
            Rule::Additive { offset, scale, sums, tail, clamp } => {
                let place = source.whole((x - offset) * scale)?;
                let noise = loop {
                    let is_negative = source.draw(1)? == 1;
                    let mut blocks = 0;
                    while source.draw(self.bits)? < *tail {
                        blocks += 1;
                    }
                    let count = source.draw(self.bits)?;
                    let size = blocks * sums.len() as i64 + sums.partition_point(|sum| *sum <= count) as i64;
                    if size > 0 || !is_negative {
                        break if is_negative { -size } else { size };
                    }
                };
                // the scale is a power of two: dividing by it is exact
                Ok(clamped(offset + (place + noise) as f64 / scale, *clamp))
            }
        }
    }

    /// The number of the point that x is, where there are points.
    fn row(&self, x: f64) -> Result<usize, Error> {
        match &self.domain {
            Domain::Between(lower, upper) if (*lower..=*upper).contains(&x) => Ok(0),
            Domain::Between(..) => Err(Error::BadInput),
            Domain::Points(points) => {
                let place = points.partition_point(|point| *point < x);
                if points.get(place) == Some(&x) {
                    Ok(place)
                } else {
                    Err(Error::BadInput)
                }
            }
        }
    }
}

const MOST_PLACE: u64 = 1 << 62;

impl Rows {
    fn read(law: &Json, outputs: usize, bits: u32) -> Result<Rows, BadFile> {
        let base = law.get("base")?.wholes()?;
        let caps = law.get("caps")?.wholes()?;
        require(base.len() == outputs && caps.len() == outputs && outputs > 0)?;
        let (mut reached, mut filled) = (0i64, 0i64);
        let mut before = Vec::with_capacity(outputs);
        for (count, cap) in base.into_iter().zip(caps) {
            require(0 < count && count <= cap)?;
            before.push((reached, filled - reached));
            filled = filled.checked_add(cap).ok_or(BAD_LAW)?;
            reached += count;
        }
        let (extra, gained) = ((1 << bits) - reached, filled - reached);
        let starts = law.get("starts")?.wholes()?;
        require(0 <= extra && extra <= gained)?;
        require(starts.iter().all(|start| (0..=gained - extra).contains(start)))?;
        Ok(Rows { before, starts, extra })
    }

    /// The output whose cumulative counts in a row enclose a count.
    fn find(&self, row: usize, count: u64) -> usize {
        let start = self.starts[row];
        let ends = |(reached, gained): &(i64, i64)| reached + (gained - start).clamp(0, self.extra);
        self.before.partition_point(|output| ends(output) as u64 <= count) - 1
    }
}

impl Pieces {
    fn read(law: &Json, is_circle: bool, bits: u32) -> Result<Pieces, BadFile> {
        let whole = |key: &str| law.get(key)?.whole();
        let number = |key: &str| law.get(key)?.number();
        let (cells, inside, weight, first) = (whole("cells")?, whole("inside")?, whole("weight")?, whole("first")?);
        require(0 < inside && inside < cells && cells <= 1 << 40)?;
        require(0 < weight && weight < 1 << bits && first.unsigned_abs() < 1 << 51)?;
        let (step, anchor, scale) = (number("step")?, number("anchor")?, number("scale")?);
        let weight = weight as u64;
        Ok(Pieces { cells, inside, weight, first, step, anchor, scale, is_circle, clamp: read_clamp(law)? })
    }

    fn draw(&self, x: f64, bits: u32, source: &mut impl Source) -> Result<f64, Error> {
        let place = ((x - self.anchor) * self.scale).floor() as i64;
        let outside = self.cells - self.inside;
        let start = if self.is_circle { place.rem_euclid(self.cells) } else { place.clamp(0, outside) };
        let cell = if source.draw(bits)? < self.weight {
            source.below(self.inside as u64)? as i64
        } else {
            self.inside + source.below(outside as u64)? as i64
        };
        let cell = self.first + (start + cell) % self.cells;
        Ok(clamped((cell as f64 + 0.5) * self.step, self.clamp))
    }
}

fn clamped(y: f64, clamp: Clamp) -> f64 {
    clamp.map_or(y, |(lower, upper)| y.clamp(lower, upper))
}

fn read_clamp(law: &Json) -> Result<Clamp, BadFile> {
    match law.get("clamp")?.present() {
        None => Ok(None),
        Some(ends) => match ends.numbers()?[..] {
            [lower, upper] if lower <= upper => Ok(Some((lower, upper))),
            _ => Err(BAD_LAW),
        },
    }
}

fn read_domain(domain: &Json) -> Result<(Domain, bool), BadFile> {
    let number = |key: &str| domain.get(key)?.number();
    let (found, is_circle) = match domain.get("kind")?.text()? {
        "interval" => (Domain::Between(number("lower")?, number("upper")?), false),
        "circle" => (Domain::Between(0.0, number("period")?), true),
        "finite" => (Domain::Points(domain.get("points")?.numbers()?), false),
        _ => return Err(BAD_DOMAIN),
    };
    match &found {
        Domain::Between(lower, upper) if lower < upper => Ok((found, is_circle)),
        Domain::Points(points) if !points.is_empty() && is_increasing(points) => Ok((found, is_circle)),
        _ => Err(BAD_DOMAIN),
    }
}

fn read_rows(law: &Json, domain: &Domain, outputs: usize, bits: u32) -> Result<Vec<u64>, BadFile> {
    let rows = law.get("rows")?.list()?;
    require(outputs > 0)?;
    require(matches!(domain, Domain::Points(points) if points.len() == rows.len()))?;
    let mut sums = Vec::with_capacity(rows.len().saturating_mul(outputs));
    for row in rows {
        let counts = row.wholes()?;
        require(counts.len() == outputs)?;
        sums.extend(sums_of(&counts, bits)?);
    }
    Ok(sums)
}

/// The sums of the counts up to each of them, the last of which is 2^bits.
fn sums_of(counts: &[i64], bits: u32) -> Result<Vec<u64>, BadFile> {
    let mut sum = 0u64;
    let mut sums = Vec::with_capacity(counts.len());
    for count in counts {
        require(*count > 0)?;
        sum = sum.checked_add(*count as u64).ok_or(BAD_LAW)?;
        sums.push(sum);
    }
    require(sum == 1 << bits)?;
    Ok(sums)
}

fn is_increasing<T: PartialOrd>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
}

/// 2^exponent, exactly.
fn power_of_two(exponent: i64) -> Result<f64, BadFile> {
    require((-1000..=1000).contains(&exponent))?;
    Ok(f64::from_bits(((1023 + exponent) as u64) << 52))
}
