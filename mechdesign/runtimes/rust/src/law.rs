//! What goes into a table, and by which rule a report is drawn of it.

use super::bits::{Source, BLOCK};
use super::error::{require, Drawn, Error, Parsed, OTHER_KIND};
use super::json::Json;

pub enum Domain {
    Interval { lower: f64, upper: f64, is_circle: bool },
    Points(Vec<f64>),
    Items(u64),
}

/// What a file states of a law.
pub struct Statement<'a> {
    pub law: &'a Json<'a>,
    pub bits: u32,
    pub domain: &'a Domain,
}

pub struct Law {
    /// The outputs, where the law lists them; else there are none.
    pub outputs: Vec<f64>,
    /// How many bytes a report has.
    pub size: usize,
    pub rule: Box<Rule>,
}

/// Writes a report for each input, one after the other, into bytes that are zeros.
type Rule = dyn Fn(&Domain, &[f64], &mut Source, &mut [u8]) -> Drawn<()> + Send + Sync;

impl Law {
    /// A report is written for an input and its place in the domain. So many random bytes are set `apart` for it before
    /// its input is looked at.
    pub fn new(
        outputs: Vec<f64>,
        size: usize,
        apart: usize,
        write: impl Fn(f64, u64, &mut Source, &mut [u8]) -> Drawn<()> + Send + Sync + 'static,
    ) -> Law {
        let apart = apart.min(BLOCK);
        let rule = move |domain: &Domain, inputs: &[f64], source: &mut Source, reports: &mut [u8]| {
            let mut each = inputs.iter().zip(reports.chunks_exact_mut(size));
            each.try_for_each(|(x, report)| {
                source.report(apart, |source| write(*x, domain.place(*x).ok_or(Error::BadInput)?, source, report))
            })
        };
        Law { outputs, size, rule: Box::new(rule) }
    }
}

impl Domain {
    pub fn read(domain: &Json) -> Parsed<Domain> {
        let interval = |lower, upper, is_circle| {
            require(lower < upper)?;
            Ok(Domain::Interval { lower, upper, is_circle })
        };
        match domain.text("kind")?.as_str() {
            "interval" => interval(domain.number("lower")?, domain.number("upper")?, false),
            "circle" => interval(0.0, domain.number("period")?, true),
            "items" => domain.within("count", 2..=1 << 16).map(Domain::Items),
            "finite" => {
                let points = domain.increasing("points")?;
                require(!points.is_empty())?;
                Ok(Domain::Points(points))
            }
            _ => Err(OTHER_KIND),
        }
    }

    /// The place of an input among those that are numbered: 0 in an interval.
    #[inline]
    pub fn place(&self, x: f64) -> Option<u64> {
        let (place, is_input) = match self {
            Domain::Interval { lower, upper, .. } => (0, (*lower..=*upper).contains(&x)),
            Domain::Points(points) => {
                let place = points[1..].partition_point(|point| *point <= x);
                (place as u64, points[place] == x)
            }
            Domain::Items(count) => {
                let item = u64::from(x as u32);
                (item, item as f64 == x && item < *count)
            }
        };
        is_input.then_some(place)
    }

    /// The input at a place.
    pub fn input(&self, place: usize) -> f64 {
        match self {
            Domain::Points(points) => points[place],
            _ => place as f64,
        }
    }

    /// How many inputs are numbered.
    pub fn places(&self) -> usize {
        match self {
            Domain::Interval { .. } => 0,
            Domain::Points(points) => points.len(),
            Domain::Items(count) => *count as usize,
        }
    }
}

impl Statement<'_> {
    /// How many counts there are in all.
    pub fn whole(&self) -> u64 {
        1 << self.bits
    }

    /// What counts reach that are all there are.
    pub fn sums_to_whole(&self, counts: &[u64]) -> Parsed<Vec<u64>> {
        let reached = sums(counts)?;
        require(reached.last() == Some(&self.whole()))?;
        Ok(reached)
    }
}

/// What counts reach one after the other, all of them above 0.
pub fn sums(counts: &[u64]) -> Parsed<Vec<u64>> {
    let mut sum = 0u64;
    let add = |count: &u64| {
        sum = sum.checked_add(*count)?;
        Some(sum)
    };
    require(!counts.contains(&0))?;
    counts.iter().map(add).collect::<Option<_>>().ok_or(OTHER_KIND)
}

pub fn is_increasing<T: PartialOrd>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
}
