//! JSON as files of mechdesign hold it: no floats and no booleans, whole numbers of 64 bits.

use super::error::{require, BadFile, Parsed};
use super::law::is_increasing;
use std::{borrow::Cow, ops::RangeInclusive, str::FromStr};

const DEEPEST: usize = 32;

pub enum Json<'a> {
    Null,
    /// A text or a whole number: doubles are texts, too, of their exact decimal expansion.
    Scalar(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(String, Json<'a>)>),
}

impl<'a> Json<'a> {
    pub fn parse(content: &'a [u8]) -> Parsed<Json<'a>> {
        let read = |text| {
            let mut reader = Reader(text);
            let value = reader.value(DEEPEST)?;
            reader.take("")?;
            reader.0.is_empty().then_some(value)
        };
        std::str::from_utf8(content).ok().and_then(read).ok_or(BadFile("it is not JSON of whole numbers and texts"))
    }

    pub fn get(&self, key: &str) -> Parsed<&Json<'a>> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == key).map(|member| &member.1),
            _ => None,
        }
        .ok_or(BadFile("a key is missing"))
    }

    /// What is there, unless it is null.
    pub fn present(&self) -> Option<&Json<'a>> {
        Some(self).filter(|json| !matches!(json, Json::Null))
    }

    pub fn scalar<T: FromStr>(&self) -> Parsed<T> {
        match self {
            Json::Scalar(text) => text.parse().ok(),
            _ => None,
        }
        .ok_or(BadFile("a value has another type"))
    }

    pub fn list(&self) -> Parsed<&[Json<'a>]> {
        match self {
            Json::List(values) => Ok(values),
            _ => Err(BadFile("a value is no list")),
        }
    }

    pub fn scalars<T: FromStr>(&self) -> Parsed<Vec<T>> {
        self.list()?.iter().map(Json::scalar).collect()
    }

    pub fn text(&self, key: &str) -> Parsed<String> {
        self.get(key)?.scalar()
    }

    pub fn number(&self, key: &str) -> Parsed<f64> {
        self.within(key, f64::MIN..=f64::MAX)
    }

    pub fn numbers(&self, key: &str) -> Parsed<Vec<f64>> {
        let numbers: Vec<f64> = self.get(key)?.scalars()?;
        require(numbers.iter().all(|number| number.is_finite()))?;
        Ok(numbers)
    }

    /// Numbers, each above the last one.
    pub fn increasing(&self, key: &str) -> Parsed<Vec<f64>> {
        let numbers = self.numbers(key)?;
        require(is_increasing(&numbers))?;
        Ok(numbers)
    }

    /// A number within bounds.
    pub fn within<T: FromStr + PartialOrd>(&self, key: &str, bounds: RangeInclusive<T>) -> Parsed<T> {
        let number = self.get(key)?.scalar()?;
        require(bounds.contains(&number))?;
        Ok(number)
    }

    /// That the file says it is of this format.
    pub fn require_format(&self, format: &str, version: &str) -> Parsed<()> {
        let is_of_it = self.text("format")? == format && self.text("version")? == version;
        is_of_it.then_some(()).ok_or(BadFile("it is of another format or version"))
    }
}

/// The text that is still to be read; there is `None` of what is not JSON.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// Takes what is expected next, after blanks.
    fn take(&mut self, expected: &str) -> Option<()> {
        self.0 = self.0.trim_start_matches([' ', '\n', '\r', '\t']);
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        let deeper = depth.checked_sub(1)?;
        if self.take("[").is_some() {
            return self.all_to("]", |reader| reader.value(deeper)).map(Json::List);
        }
        if self.take("{").is_some() {
            let member = |reader: &mut Self| {
                reader.take("\"")?;
                let key = reader.text()?;
                reader.take(":")?;
                Some((key, reader.value(deeper)?))
            };
            return self.all_to("}", member).map(Json::Object);
        }
        if self.take("\"").is_some() {
            return Some(Json::Scalar(self.text()?.into()));
        }
        if self.take("null").is_some() {
            return Some(Json::Null);
        }
        let end = self.0.find(|letter| !matches!(letter, '-' | '0'..='9'))?;
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse::<i64>().is_ok().then_some(Json::Scalar(digits.into()))
    }

    /// All up to an end, with commas between.
    fn all_to<T>(&mut self, end: &str, next: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut found = Vec::new();
        while self.take(end).is_none() {
            if !found.is_empty() {
                self.take(",")?;
            }
            found.push(next(self)?);
        }
        Some(found)
    }

    /// A text up to the mark that ends it, by way of UTF-16: an escape may be half of a character.
    fn text(&mut self) -> Option<String> {
        let mut units = Vec::new();
        loop {
            let mut letters = self.0.chars();
            let mut letter = letters.next()?;
            self.0 = letters.as_str();
            if letter == '"' {
                return String::from_utf16(&units).ok();
            }
            if letter == '\\' {
                letter = letters.next()?;
                self.0 = letters.as_str();
                letter = match letter {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '"' | '\\' | '/' => letter,
                    'u' => {
                        units.push(u16::from_str_radix(self.0.get(..4)?, 16).ok()?);
                        self.0 = &self.0[4..];
                        continue;
                    }
                    _ => return None,
                };
            }
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
        }
    }
}
