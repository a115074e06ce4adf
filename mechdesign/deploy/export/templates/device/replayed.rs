struct Memory {
    content: Option<Vec<u8>>,
    stored: String,
}

impl Storage for Memory {
    fn load(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        Ok(self.content.clone())
    }
    fn store(&mut self, content: &[u8]) -> std::io::Result<()> {
        self.stored = content.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(())
    }
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()).collect()
}

fn word(error: &Error) -> &'static str {
    match error {
        Error::BadInput => "input",
        Error::NoRandomness => "no-randomness",
        Error::Missing => "missing",
        Error::Damaged => "damaged",
        Error::Other => "other",
        Error::RolledBack => "rolled-back",
        Error::Past => "past",
        Error::Ahead => "ahead",
        Error::Exhausted => "exhausted",
        Error::Present => "present",
        Error::Busy => "busy",
        Error::BadNumber => "number",
        Error::Storage(_) => "storage",
    }
}

fn replay(line: &str) -> Option<bool> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [what, before, period, least, allowance, x, stream, used, outcome, after] = fields[..] else { return None };
    let content = if before == "-" { None } else { bytes_of(before) };
    let mut storage = Memory { content, stored: "-".to_string() };
    let (period, least) = (period.parse().ok()?, least.parse().ok()?);
    let said = if what == "create" {
        create(&mut storage, period, allowance.parse().ok()?, least).map(|()| "done".to_string())
    } else {
        let data = if stream == "-" { Vec::new() } else { bytes_of(stream)? };
        let mut position = 0;
        let mut fill = |bytes: &mut [u8]| match data.get(position..position + bytes.len()) {
            Some(next) => {
                bytes.copy_from_slice(next);
                position += bytes.len();
                true
            }
            None => false,
        };
// @if items
        let item = u64::try_from(x.parse::<i64>().ok()?).unwrap_or(u64::MAX);
        let answer = @core@_from(&mut storage, item, period, least, &mut fill);
// @else
        let number = f64::from_bits(u64::from_str_radix(x, 16).ok()?);
        let answer = @core@_from(&mut storage, number, period, least, &mut fill);
// @end
        if answer.is_ok() && position != used.parse::<usize>().ok()? {
            return Some(false);
        }
// @if items
        answer.map(|y| y.iter().map(|byte| format!("{byte:02x}")).collect())
// @else
        answer.map(|y| format!("{:016x}", y.to_bits()))
// @end
    };
    let said = said.unwrap_or_else(|error| word(&error).to_string());
    Some(said == outcome && storage.stored == after)
}
