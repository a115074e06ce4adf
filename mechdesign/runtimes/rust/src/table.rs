use super::bits::{Block, Fill, Source};
use super::error::{require, BadFile, Drawn, Error, Parsed};
use super::json::Json;
use super::law::{Domain, Law, Statement};
#[cfg(any(unix, windows, feature = "wasm"))]
use super::system::with_block;
use super::{items, numbers};

/// A table: what goes in, what comes out, and with which chance.
pub struct Table {
    hash: [u8; 32],
    domain: Domain,
    law: Law,
    inputs: Option<Vec<String>>,
    /// The places of input labels, in the order of their bytes.
    order: Vec<usize>,
    outputs: Option<Vec<String>>,
    pub(super) subject: Subject,
}

/// What goes in: a label where the table has labels for its inputs, else a number. An item is a whole number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Input<'a> {
    Label(&'a str),
    Number(f64),
}

/// What comes out: a label where the table has labels for its outputs, else a number, or bytes of a table on items.
#[derive(Debug, Clone, PartialEq)]
pub enum Report<'t> {
    Label(&'t str),
    Number(f64),
    Bytes(Vec<u8>),
}

/// What a report is said to be of where it is sent: a table (0), an attribute of a collection (1), or a device (2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub(super) form: u8,
    pub(super) attribute: u16,
    pub(super) hash: [u8; 32],
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(label: &'a str) -> Self {
        Input::Label(label)
    }
}

macro_rules! from_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Input<'_> {
            fn from(number: $number) -> Self {
                Input::Number(number.into())
            }
        }
    )*};
}

from_numbers!(f64 i32 u32);

impl Table {
    /// The table of a file, or [`BadFile`].
    pub fn read(content: impl AsRef<[u8]>) -> Result<Table, BadFile> {
        Table::read_document(&Json::parse(content.as_ref())?)
    }

    pub(super) fn read_document(document: &Json) -> Parsed<Table> {
        document.require_format("mechdesign table", "2")?;
        let domain = Domain::read(document.get("domain")?)?;
        let bits = document.within("bits", 16..=62)?;
        require([16, 32, 53, 62].contains(&bits))?;
        let table = &Statement { law: document.get("law")?, bits, domain: &domain };
        let law = match document.text("kind")?.as_str() {
            "window" => numbers::window(table),
            "unbiased" => numbers::unbiased(table),
            "finite" => numbers::finite(table),
            "pieces" => numbers::pieces(table),
            "additive" => numbers::additive(table),
            "response" => items::response(table),
            "unary" => items::unary(table),
            "hashing" => items::hashing(table),
            "subset" => items::subset(table),
            "hadamard" => items::hadamard(table),
            "sketch" => items::sketch(table),
            _ => Err(BadFile("its kind is unknown")),
        }?;
        let labels = document.get("labels")?;
        let inputs = read_labels(labels, "inputs", domain.places())?;
        let outputs = read_labels(labels, "outputs", law.outputs.len())?;
        let mut order: Vec<usize> = (0..inputs.as_ref().map_or(0, Vec::len)).collect();
        order.sort_by_key(|place| inputs.as_ref().map(|texts| &texts[*place]));
        let hash = read_hash(&document.text("sha256")?)?;
        Ok(Table { hash, domain, law, inputs, order, outputs, subject: Subject { form: 0, attribute: 0, hash } })
    }

    /// The same table, whose envelopes say that its reports are of an attribute of a collection, or of a device.
    pub fn of(self, subject: Subject) -> Table {
        Table { subject, ..self }
    }

    /// The SHA-256 of the table, which names it.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The labels of the inputs, if they have any, in the order of their numbers.
    pub fn input_labels(&self) -> Option<&[String]> {
        self.inputs.as_deref()
    }

    /// The labels of the outputs, if they have any.
    pub fn output_labels(&self) -> Option<&[String]> {
        self.outputs.as_deref()
    }

    /// How many bytes a report has among many: 8 where reports are numbers.
    pub fn report_bytes(&self) -> usize {
        self.law.size
    }

    /// A report for the input `x` by a source that overwrites all it is given with random bytes: for tests, and for
    /// systems without one.
    pub fn sample_from<'a>(&self, x: impl Into<Input<'a>>, fill: &mut Fill) -> Result<Report<'_>, Error> {
        Ok(self.labelled(self.sample_code_from(self.code(x.into())?, fill)?))
    }

    /// The same in numbers of the file, also where there are labels.
    pub fn sample_code_from(&self, x: impl Into<f64>, fill: &mut Fill) -> Result<Report<'static>, Error> {
        Block::new().with(None, fill, |source| self.draw(x.into(), source))
    }

    /// The same for many inputs, as [`Table::sample_codes`].
    pub fn sample_codes_from(&self, inputs: &[f64], reports: &mut [u8], fill: &mut Fill) -> Result<(), Error> {
        Block::new().with(None, fill, |source| self.draw_all(inputs, reports, source))
    }

    fn draw_all(&self, inputs: &[f64], reports: &mut [u8], source: &mut Source) -> Drawn<()> {
        reports.fill(0);
        if reports.len() != self.law.size * inputs.len() {
            return Err(Error::BadInput);
        }
        let drawn = (self.law.rule)(&self.domain, inputs, source, reports);
        if drawn.is_err() {
            reports.fill(0);
        }
        drawn
    }

    #[inline]
    fn draw(&self, x: f64, source: &mut Source) -> Drawn<Report<'static>> {
        if self.items().is_some() {
            let mut report = vec![0; self.law.size];
            (self.law.rule)(&self.domain, &[x], source, &mut report)?;
            return Ok(Report::Bytes(report));
        }
        let mut report = [0; 8];
        (self.law.rule)(&self.domain, &[x], source, &mut report)?;
        Ok(Report::Number(f64::from_le_bytes(report)))
    }

    /// The number that an input has in the file.
    pub(super) fn code(&self, x: Input<'_>) -> Drawn<f64> {
        match (&self.inputs, x) {
            (None, Input::Number(number)) => Some(number),
            // as many steps for one label as for another
            (Some(labels), Input::Label(label)) => {
                let reached = self.order.partition_point(|place| labels[*place].as_str() <= label);
                let place = reached.checked_sub(1).map(|last| self.order[last]);
                place.filter(|place| labels[*place] == label).map(|place| self.domain.input(place))
            }
            _ => None,
        }
        .ok_or(Error::BadInput)
    }

    /// The label of a number, where outputs have labels.
    pub(super) fn labelled<'t>(&'t self, report: Report<'t>) -> Report<'t> {
        match (&self.outputs, report) {
            (Some(labels), Report::Number(y)) => {
                Report::Label(&labels[self.listed().partition_point(|output| *output < y)])
            }
            (_, report) => report,
        }
    }

    /// The outputs, where the law lists them.
    pub(super) fn listed(&self) -> &[f64] {
        &self.law.outputs
    }

    /// How many items go in, and how long reports are, where reports are bytes.
    pub(super) fn items(&self) -> Option<(u64, usize)> {
        match self.domain {
            Domain::Items(count) => Some((count, self.law.size)),
            _ => None,
        }
    }
}

/// With the operating system's randomness.
#[cfg(any(unix, windows, feature = "wasm"))]
impl Table {
    /// A report for the input `x`.
    pub fn sample<'a>(&self, x: impl Into<Input<'a>>) -> Result<Report<'_>, Error> {
        Ok(self.labelled(self.sample_code(self.code(x.into())?)?))
    }

    /// A report in numbers of the file, also where there are labels.
    #[inline]
    pub fn sample_code(&self, x: impl Into<f64>) -> Result<Report<'static>, Error> {
        with_block(|source| self.draw(x.into(), source))
    }

    /// Reports for many inputs, in numbers of the file, one after the other in as many bytes as [`Table::report_bytes`]
    /// says: numbers as they are in memory, little-endian. Nothing is allocated. If one fails all bytes are 0.
    pub fn sample_codes(&self, inputs: &[f64], reports: &mut [u8]) -> Result<(), Error> {
        with_block(|source| self.draw_all(inputs, reports, source))
    }
}

fn read_labels(labels: &Json, side: &str, count: usize) -> Parsed<Option<Vec<String>>> {
    let texts = labels.present().map(|labels| labels.get(side)).transpose()?.and_then(Json::present);
    let texts: Option<Vec<String>> = texts.map(Json::scalars).transpose()?;
    require(texts.iter().all(|texts| texts.len() == count))?;
    Ok(texts)
}

/// The bytes of 64 hexadecimal digits.
pub fn read_hash(digits: &str) -> Parsed<[u8; 32]> {
    bytes(digits).and_then(|hash| hash.try_into().ok()).ok_or(BadFile("it has no hash"))
}

/// The bytes of hexadecimal digits.
pub fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()).collect()
}
