use super::bits::{Filled, Source};
use super::error::{BadFile, Error};
use super::items::Items;
use super::json::{self, Json};
use super::numbers::Numbers;
#[cfg(any(unix, windows, feature = "wasm"))]
use super::pool;

/// A table: what goes in, what comes out, and with which chance.
pub struct Table {
    hash: [u8; 32],
    law: Law,
    inputs: Option<Labels>,
    outputs: Option<Vec<String>>,
    /// So many random bytes are set apart for a report before its input is looked at.
    apart: usize,
    pub(super) subject: Subject,
}

enum Law {
    Numbers(Box<Numbers>),
    Items(Items),
}

struct Labels {
    texts: Vec<String>,
    /// Their places, in the order of their bytes.
    order: Vec<usize>,
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

impl From<f64> for Input<'_> {
    fn from(number: f64) -> Self {
        Input::Number(number)
    }
}

impl From<i32> for Input<'_> {
    fn from(number: i32) -> Self {
        Input::Number(number.into())
    }
}

impl From<u32> for Input<'_> {
    fn from(number: u32) -> Self {
        Input::Number(number.into())
    }
}

impl Table {
    /// The table of a file, or [`BadFile`].
    pub fn read(content: impl AsRef<[u8]>) -> Result<Table, BadFile> {
        Table::read_document(&json::parse(content.as_ref())?)
    }

    pub(super) fn read_document(document: &Json) -> Result<Table, BadFile> {
        if document.get("format")?.text()? != "mechdesign table" || document.get("version")?.whole()? != 2 {
            return Err(BadFile("it is no table of schema version 2"));
        }
        let bits = match document.get("bits")?.whole()? {
            bits @ (16 | 32 | 53 | 62) => bits as u32,
            _ => return Err(BadFile("its bits are none of 16, 32, 53, 62")),
        };
        let kind = document.get("kind")?.text()?;
        let law = match kind {
            "window" | "unbiased" | "finite" | "pieces" | "additive" => {
                Law::Numbers(Box::new(Numbers::read(document, kind, bits)?))
            }
            "response" | "unary" | "hashing" | "subset" | "hadamard" | "sketch" => {
                Law::Items(Items::read(document, kind, bits)?)
            }
            _ => return Err(BadFile("its kind is unknown")),
        };
        let (points, listed, apart) = match &law {
            Law::Numbers(law) => (law.points(), law.outputs.len(), law.enough_bytes() as usize),
            Law::Items(law) => (law.count as usize, 0, 0),
        };
        let labels = document.get("labels")?;
        let hash = read_hash(document.get("sha256")?.text()?)?;
        let inputs = read_labels(labels, "inputs", points)?.map(|texts| {
            let mut order: Vec<usize> = (0..texts.len()).collect();
            order.sort_by(|one, other| texts[*one].cmp(&texts[*other]));
            Labels { texts, order }
        });
        let outputs = read_labels(labels, "outputs", listed)?;
        Ok(Table { hash, law, inputs, outputs, apart, subject: Subject { form: 0, attribute: 0, hash } })
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
        self.inputs.as_ref().map(|labels| &labels.texts[..])
    }

    /// The labels of the outputs, if they have any.
    pub fn output_labels(&self) -> Option<&[String]> {
        self.outputs.as_deref()
    }

    /// A report for the input `x`, with the operating system's randomness.
    #[cfg(any(unix, windows, feature = "wasm"))]
    pub fn sample<'a>(&self, x: impl Into<Input<'a>>) -> Result<Report<'_>, Error> {
        Ok(self.labelled(self.sample_code(self.code(x.into())?)?))
    }

    /// The same with another source, which overwrites all it is given with random bytes: for tests, and for systems
    /// without one.
    pub fn sample_from<'a>(
        &self,
        x: impl Into<Input<'a>>,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<Report<'_>, Error> {
        Ok(self.labelled(self.sample_code_from(self.code(x.into())?, fill)?))
    }

    /// A report in numbers of the file, also where there are labels.
    #[cfg(any(unix, windows, feature = "wasm"))]
    #[inline]
    pub fn sample_code(&self, x: impl Into<f64>) -> Result<Report<'static>, Error> {
        let x = x.into();
        pool::report(self.apart, |draws| self.draw(x, draws))
    }

    /// The same with another source.
    pub fn sample_code_from(
        &self,
        x: impl Into<f64>,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<Report<'static>, Error> {
        self.draw(x.into(), &mut Filled(fill))
    }

    /// How many bytes a report has among many: 8 where reports are numbers.
    pub fn report_bytes(&self) -> usize {
        self.items().map_or(8, |(_, size)| size)
    }

    /// Reports for many inputs, in numbers of the file, one after the other in as many bytes as [`Table::report_bytes`]
    /// says: numbers as they are in memory, little-endian. Nothing is allocated. If one fails all bytes are 0.
    #[cfg(any(unix, windows, feature = "wasm"))]
    pub fn sample_codes(&self, inputs: &[f64], reports: &mut [u8]) -> Result<(), Error> {
        self.each(inputs, reports, &mut |x, report| pool::report(self.apart, |draws| self.write(x, report, draws)))
    }

    /// The same with another source.
    pub fn sample_codes_from(
        &self,
        inputs: &[f64],
        reports: &mut [u8],
        fill: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each(inputs, reports, &mut |x, report| self.write(x, report, &mut Filled(fill)))
    }

    #[inline]
    fn each(
        &self,
        inputs: &[f64],
        reports: &mut [u8],
        write: &mut impl FnMut(f64, &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = self.report_bytes();
        reports.fill(0);
        if reports.len() != size * inputs.len() {
            return Err(Error::BadInput);
        }
        let drawn = inputs.iter().zip(reports.chunks_exact_mut(size)).try_for_each(|(x, report)| write(*x, report));
        if drawn.is_err() {
            reports.fill(0);
        }
        drawn
    }

    #[inline]
    fn draw(&self, x: f64, source: &mut impl Source) -> Result<Report<'static>, Error> {
        match &self.law {
            Law::Numbers(law) => law.draw(x, source).map(Report::Number),
            Law::Items(law) => {
                let mut report = vec![0; law.report_bytes()];
                self.write(x, &mut report, source)?;
                Ok(Report::Bytes(report))
            }
        }
    }

    /// Into bytes that are zeros.
    #[inline]
    fn write(&self, x: f64, report: &mut [u8], source: &mut impl Source) -> Result<(), Error> {
        match &self.law {
            Law::Numbers(law) => report.copy_from_slice(&law.draw(x, source)?.to_le_bytes()),
            Law::Items(law) if x >= 0.0 && x < law.count as f64 && x.fract() == 0.0 => {
                law.draw(x as u64, report, source)?;
            }
            Law::Items(_) => return Err(Error::BadInput),
        }
        Ok(())
    }

    /// The number that an input has in the file.
    pub(super) fn code(&self, x: Input<'_>) -> Result<f64, Error> {
        match (&self.inputs, x) {
            (None, Input::Number(number)) => Ok(number),
            (Some(labels), Input::Label(label)) => {
                let place = labels.place(label).ok_or(Error::BadInput)?;
                match &self.law {
                    Law::Numbers(law) => law.point(place).ok_or(Error::BadInput),
                    Law::Items(_) => Ok(place as f64),
                }
            }
            _ => Err(Error::BadInput),
        }
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
        match &self.law {
            Law::Numbers(law) => &law.outputs,
            Law::Items(_) => &[],
        }
    }

    /// How many items go in, and how long reports are, where reports are bytes.
    pub(super) fn items(&self) -> Option<(u64, usize)> {
        match &self.law {
            Law::Numbers(_) => None,
            Law::Items(law) => Some((law.count, law.report_bytes())),
        }
    }
}

impl Labels {
    /// The place of a label, found in as many steps for one label as for another.
    fn place(&self, label: &str) -> Option<usize> {
        let reached = self.order.partition_point(|place| self.texts[*place].as_str() <= label);
        let place = self.order[reached.checked_sub(1)?];
        (self.texts[place] == label).then_some(place)
    }
}

fn read_labels(labels: &Json, side: &str, count: usize) -> Result<Option<Vec<String>>, BadFile> {
    let texts = match labels.present() {
        None => None,
        Some(labels) => labels.get(side)?.present(),
    };
    match texts.map(Json::texts).transpose()? {
        Some(texts) if texts.len() != count => Err(BadFile("it has another number of labels")),
        texts => Ok(texts),
    }
}

/// The bytes of 64 hexadecimal digits.
pub fn read_hash(digits: &str) -> Result<[u8; 32], BadFile> {
    let mut hash = [0; 32];
    let is_hash = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    for (i, byte) in hash.iter_mut().enumerate() {
        let pair = digits.get(2 * i..2 * i + 2).filter(|_| is_hash);
        *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(BadFile("it has no hash"))?;
    }
    Ok(hash)
}
