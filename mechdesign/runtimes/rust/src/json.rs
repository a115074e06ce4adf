//! JSON as files of mechdesign hold it: no floats and no booleans, whole numbers of 64 bits.

use super::error::BadFile;

const DEEPEST: usize = 32;

pub enum Json {
    Null,
    Whole(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub fn parse(content: &[u8]) -> Result<Json, BadFile> {
    let text = std::str::from_utf8(content).map_err(|_| BadFile("it is not UTF-8"))?;
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(NOT_JSON)
    }
}

const NOT_JSON: BadFile = BadFile("it is not JSON of whole numbers and texts");
const OTHER_TYPE: BadFile = BadFile("a value has another type");

impl Json {
    pub fn get(&self, key: &str) -> Result<&Json, BadFile> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == key).map(|member| &member.1),
            _ => None,
        }
        .ok_or(BadFile("a key is missing"))
    }

    /// What is there, unless it is null.
    pub fn present(&self) -> Option<&Json> {
        match self {
            Json::Null => None,
            value => Some(value),
        }
    }

    pub fn whole(&self) -> Result<i64, BadFile> {
        match self {
            Json::Whole(number) => Ok(*number),
            _ => Err(OTHER_TYPE),
        }
    }

    pub fn text(&self) -> Result<&str, BadFile> {
        match self {
            Json::Text(text) => Ok(text),
            _ => Err(OTHER_TYPE),
        }
    }

    /// A double, which files hold as the text of its exact decimal expansion.
    pub fn number(&self) -> Result<f64, BadFile> {
        match self.text()?.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(OTHER_TYPE),
        }
    }

    pub fn list(&self) -> Result<&[Json], BadFile> {
        match self {
            Json::List(values) => Ok(values),
            _ => Err(OTHER_TYPE),
        }
    }

    pub fn wholes(&self) -> Result<Vec<i64>, BadFile> {
        self.list()?.iter().map(Json::whole).collect()
    }

    pub fn numbers(&self) -> Result<Vec<f64>, BadFile> {
        self.list()?.iter().map(Json::number).collect()
    }

    pub fn texts(&self) -> Result<Vec<String>, BadFile> {
        self.list()?.iter().map(|text| Ok(text.text()?.to_owned())).collect()
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn take(&mut self, expected: &str) -> Result<(), BadFile> {
        if self.text[self.at..].starts_with(expected) {
            self.at += expected.len();
            return Ok(());
        }
        Err(NOT_JSON)
    }

    fn value(&mut self, depth: usize) -> Result<Json, BadFile> {
        if depth > DEEPEST {
            return Err(NOT_JSON);
        }
        self.blanks();
        match self.peek() {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => Ok(Json::Text(self.string()?)),
            b'n' => self.take("null").map(|()| Json::Null),
            _ => self.integer(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, BadFile> {
        let mut members = Vec::new();
        self.at += 1;
        self.blanks();
        while self.peek() != b'}' {
            if !members.is_empty() {
                self.take(",")?;
                self.blanks();
            }
            let key = self.string()?;
            self.blanks();
            self.take(":")?;
            members.push((key, self.value(depth + 1)?));
            self.blanks();
        }
        self.at += 1;
        Ok(Json::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Json, BadFile> {
        let mut values = Vec::new();
        self.at += 1;
        self.blanks();
        while self.peek() != b']' {
            if !values.is_empty() {
                self.take(",")?;
            }
            values.push(self.value(depth + 1)?);
            self.blanks();
        }
        self.at += 1;
        Ok(Json::List(values))
    }

    fn integer(&mut self) -> Result<Json, BadFile> {
        let start = self.at;
        while matches!(self.peek(), b'-' | b'0'..=b'9') {
            self.at += 1;
        }
        self.text[start..self.at].parse().map(Json::Whole).map_err(|_| NOT_JSON)
    }

    fn string(&mut self) -> Result<String, BadFile> {
        self.take("\"")?;
        let mut found = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(['"', '\\']).ok_or(NOT_JSON)?;
            found.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(found);
            }
            self.at += 1;
            found.push(match rest.as_bytes().get(end + 1) {
                Some(b'u') => self.escaped()?,
                Some(b'b') => '\u{8}',
                Some(b'f') => '\u{c}',
                Some(b'n') => '\n',
                Some(b'r') => '\r',
                Some(b't') => '\t',
                Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
                _ => return Err(NOT_JSON),
            });
        }
    }

    /// The character of `\uXXXX`, or of two of them that are surrogates.
    fn escaped(&mut self) -> Result<char, BadFile> {
        let high = self.digits()?;
        let code = if (0xd800..0xdc00).contains(&high) {
            self.take("\\u")?;
            let low = self.digits()?.wrapping_sub(0xdc00);
            0x10000 + ((high - 0xd800) << 10) + if low < 0x400 { low } else { return Err(NOT_JSON) }
        } else {
            high
        };
        char::from_u32(code).ok_or(NOT_JSON)
    }

    fn digits(&mut self) -> Result<u32, BadFile> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(NOT_JSON)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| NOT_JSON)
    }
}
