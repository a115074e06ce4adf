use super::{BadFile, Error, Report, Table, ALL};
use std::fs;
use std::path::{Path, PathBuf};

/// The vectors of this package, or in the runtime's own folder those of all runtimes.
pub(super) fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("vectors");
    if own.is_dir() {
        own
    } else {
        here.join("../vectors")
    }
}

pub(super) fn listed(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}

/// The contents of tables.
fn contents() -> Vec<Vec<u8>> {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
    let folder = if tables.is_dir() { tables } else { folder() };
    let contents = listed(&folder, "json").into_iter().map(|path| fs::read(path).unwrap());
    contents.filter(|content| Table::read(content).is_ok()).collect()
}

pub(super) fn tables() -> Vec<Table> {
    contents().iter().map(|content| Table::read(content).unwrap()).collect()
}

/// Inputs that the table takes.
pub(super) fn inputs(table: &Table) -> Vec<f64> {
    let tried = (-400..=400).map(|step| f64::from(step) / 100.0).chain([1e300]);
    tried.filter(|x| table.sample_code(*x).is_ok()).take(3).collect()
}

/// Those of a package with what it says that envelopes are of, or those of all runtimes.
#[test]
fn the_vectors_of_tables_are_reproduced() {
    let read = if ALL.is_empty() { tables() } else { Vec::new() };
    let tables: Vec<&Table> = ALL.iter().map(|(_, table)| table()).chain(&read).collect();
    let is_other = |path: &&PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        name.contains("_device") || name.starts_with("collection_")
    };
    for path in listed(&folder(), "txt").iter().filter(|path| !is_other(path)) {
        let replayed = super::replay::replay(&tables, &fs::read_to_string(path).unwrap());
        assert!(replayed.is_ok(), "{}: {replayed:?}", path.display());
    }
}

#[test]
fn tables_of_a_package_are_read_and_their_envelopes_say_what_they_are_of() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
    assert_eq!(ALL.len(), listed(&here, "json").len());
    for (name, table) in ALL {
        let content = fs::read(here.join(format!("{}.json", name.to_lowercase()))).unwrap();
        assert_eq!(table().hash(), Table::read(content).unwrap().hash());
        let lines = fs::read_to_string(folder().join(format!("{}_envelopes.txt", name.to_lowercase()))).unwrap();
        let written = lines.lines().find(|line| !line.starts_with('#')).unwrap().rsplit(' ').next().unwrap();
        let envelope = table().envelope(&table().sample(labelled(table(), inputs(table())[0])).unwrap(), 0).unwrap();
        let said: String = envelope[..44].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((&said[..16], &said[24..]), (&written[..16], &written[24..88]));
    }
}

#[test]
fn without_randomness_there_is_an_error_and_no_report() {
    for table in tables() {
        let x = inputs(&table)[0];
        assert_eq!(table.sample_code_from(x, &mut |_| Err(Error::NoRandomness)), Err(Error::NoRandomness));
        let report = table.sample(labelled(&table, x)).unwrap();
        assert_eq!(table.envelope_from(&report, 1, &mut |_| Err(Error::NoRandomness)), Err(Error::NoRandomness));
        assert_ne!(table.envelope(&report, 1).unwrap(), table.envelope(&report, 1).unwrap());
    }
}

#[test]
fn minus_zero_is_zero_in_an_envelope() {
    for table in tables() {
        let [zero, minus] = [0.0, -0.0].map(|y| table.envelope_from(&Report::Number(y), 1, &mut |_| Ok(())));
        assert_eq!(zero, minus);
    }
}

/// The label of an input, where the table has labels for them.
pub(super) fn labelled(table: &Table, x: f64) -> super::Input<'_> {
    match table.input_labels() {
        Some(labels) => labels[0].as_str().into(),
        None => x.into(),
    }
}

#[test]
fn labels_go_in_and_come_out_and_nothing_else_does() {
    for table in tables() {
        for label in table.input_labels().unwrap_or_default() {
            let report = table.sample(label.as_str()).unwrap();
            assert_eq!(matches!(report, Report::Label(_)), table.output_labels().is_some());
        }
        let wrong = [table.sample("").err(), table.sample("none of them").err(), table.sample(f64::NAN).err()];
        assert_eq!(wrong, [Some(Error::BadInput); 3]);
        if let Some(labels) = table.output_labels() {
            let report = table.sample(labelled(&table, inputs(&table)[0])).unwrap();
            assert!(matches!(report, Report::Label(label) if labels.iter().any(|text| text == label)));
        } else if table.input_labels().is_some() {
            assert_eq!(table.sample(0), Err(Error::BadInput));
        }
    }
}

#[test]
fn files_that_were_cut_or_changed_are_refused_or_draw() {
    for content in contents() {
        for end in (0..content.len() - 1).step_by(content.len() / 300 + 1) {
            assert!(Table::read(&content[..end]).is_err());
        }
        for place in (0..content.len()).step_by(content.len() / 600 + 1) {
            let mut changed = content.clone();
            changed[place] = b"0-[\"\\{,1"[place % 8];
            let Ok(table) = Table::read(&changed) else { continue };
            for x in inputs(&table) {
                let mut left = 100_000;
                let report = table.sample_code_from(x, &mut |bytes| {
                    bytes.fill(left as u8);
                    left -= 1;
                    if left > 0 {
                        Ok(())
                    } else {
                        Err(Error::NoRandomness)
                    }
                });
                assert_ne!(report, Err(Error::BadInput));
            }
        }
    }
    for text in ["", "null", "[]", "{}", "{\"format\":1.5}", "\u{fffd}", &"[".repeat(100_000)] {
        assert!(Table::read(text).is_err());
    }
}

/// A table of 32 bits without labels for its inputs.
fn forged(kind: &str, domain: &str, law: &str, labels: &str) -> Result<Table, BadFile> {
    let hash = "0".repeat(64);
    let head = format!(r#"{{"format":"mechdesign table","version":2,"bits":32,"domain":{domain},"kind":"{kind}""#);
    Table::read(format!(r#"{head},"labels":{labels},"law":{law},"sha256":"{hash}"}}"#))
}

#[test]
fn noise_that_hardly_ever_ends_is_refused() {
    let noise = |tail: u64| {
        let law = format!(r#"{{"clamp":null,"offset":"0","shift":0,"tail":{tail},"weights":[4294967296]}}"#);
        forged("additive", r#"{"kind":"interval","lower":"0","upper":"1"}"#, &law, "null")
    };
    assert!(noise((1 << 32) - (1 << 16)).is_ok());
    assert!(noise((1 << 32) - (1 << 16) + 1).is_err());
}

#[test]
fn outputs_in_another_order_than_their_numbers_are_refused() {
    let row = |outputs: &str| {
        let law = format!(r#"{{"outputs":{outputs},"rows":[[1,4294967294,1]]}}"#);
        let labels = r#"{"inputs":null,"outputs":["a","b","c"]}"#;
        forged("finite", r#"{"kind":"finite","points":["0"]}"#, &law, labels)
    };
    assert_eq!(row(r#"["0","1","2"]"#).unwrap().sample_from(0, &mut |_| Ok(())), Ok(Report::Label("a")));
    for outputs in [r#"["2","1","0"]"#, r#"["0","0","1"]"#, r#"["0","1"]"#] {
        assert!(row(outputs).is_err());
    }
}
