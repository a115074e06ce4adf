use super::device_replay::Files;
use super::tests::{folder, listed};
use std::fs;
use std::path::Path;

#[test]
fn all_vectors_are_reproduced() {
    let mut files = Files::default();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packaged = [here.join("device.json"), here.join("collection.json")].into_iter().filter(|path| path.is_file());
    for path in packaged.chain(listed(&folder(), "json")).chain(listed(&here.join("tables"), "json")) {
        files.add(&fs::read(path).unwrap()).unwrap();
    }
    for path in listed(&folder(), "txt") {
        let replayed = files.replay(&fs::read_to_string(&path).unwrap());
        assert!(replayed.is_ok(), "{}: {replayed:?}", path.display());
    }
}

#[cfg(feature = "files")]
#[test]
fn a_state_in_a_file_is_created_spent_counted_and_used_by_one() {
    use super::device::checksum;
    use super::tests::{inputs, labelled, tables};
    use super::{Device, DeviceError, FileStorage};

    let tables = tables();
    let table = tables.iter().find(|table| table.output_labels().is_none()).unwrap_or(&tables[0]);
    let hash: String = table.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let file = format!(
        r#"{{"again":null,"format":"mechdesign device","reports":1,"sha256":"{hash}","table":"{hash}","values":2,"version":1}}"#
    );
    let device = Device::read(file, table, None).unwrap();
    let folder = std::env::temp_dir().join(format!("mechdesign-{}-{}", &hash[..8], std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("state");
    let x = inputs(table)[0];
    let mut storage = FileStorage::open(&path).unwrap();
    assert!(matches!(device.report_code(&mut storage, x, 20, 0), Err(DeviceError::Missing)));
    for (period, allowance, least) in [(1 << 31, 0, 0), (20, 2, 0), (20, 0, (1 << 31) - 1)] {
        assert!(matches!(device.create(&mut storage, period, allowance, least), Err(DeviceError::BadNumber)));
    }
    device.create(&mut storage, 20, 1, 0).unwrap();
    assert!(matches!(device.create(&mut storage, 20, 1, 0), Err(DeviceError::Present)));
    device.report(&mut storage, labelled(table, x), 20, 0).unwrap();
    assert!(matches!(device.report_code(&mut storage, x, 20, 0), Err(DeviceError::Exhausted)));
    assert!(matches!(FileStorage::open(&path), Err(DeviceError::Busy)));
    drop(storage);
    let mut storage = FileStorage::open(&path).unwrap();
    assert_eq!(device.serial(&mut storage, 0).unwrap(), 2);
    assert!(matches!(device.serial(&mut storage, 3), Err(DeviceError::RolledBack)));

    // the same value a second time, with something else that was drawn for it
    let mut content = fs::read(&path).unwrap();
    let (end, entry) = (content.len() - 4, (content.len() - 60) / 2);
    content[52] = 2;
    content.copy_within(56..56 + entry, 56 + entry);
    content[56 + entry + if entry == 16 { 8 } else { 4 }] ^= 1;
    let sum = checksum(&content[..end]);
    content[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, content).unwrap();
    assert!(matches!(device.serial(&mut storage, 0), Err(DeviceError::Damaged)));
    drop(storage);
    fs::remove_dir_all(&folder).unwrap();
}
