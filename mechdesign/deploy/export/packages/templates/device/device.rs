//! The device: its vectors (states that are lost, cut, edited, foreign and rolled back among them), and a state in a file.
use @crate@::@device@::{create, @core@, @core@_from, serial, Error, FileStorage, Storage};

// @include device/replayed.rs

#[test]
fn @device@_reproduces_its_vectors() {
    let lines = include_str!("@device@_vectors.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut cases = 0;
    for line in lines {
        cases += 1;
        assert_eq!(replay(line), Some(true), "case {cases}");
    }
    assert!(cases > 0);
}

#[test]
fn a_state_in_a_file_is_created_spent_counted_and_used_by_one() {
    let folder = std::env::temp_dir().join(format!("@device@-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("state");
    let mut storage = FileStorage::open(&path).unwrap();
    assert!(matches!(@core@(&mut storage, @typical@, 20, 0), Err(Error::Missing)));
    create(&mut storage, 20, 1, 0).unwrap();
    assert!(matches!(create(&mut storage, 20, 1, 0), Err(Error::Present)));
    @core@(&mut storage, @typical@, 20, 0).unwrap();
    assert!(matches!(@core@(&mut storage, @typical@, 20, 0), Err(Error::Exhausted)));
    assert!(matches!(FileStorage::open(&path), Err(Error::Busy)));
    drop(storage);
    let mut storage = FileStorage::open(&path).unwrap();
    assert_eq!(serial(&mut storage, 0).unwrap(), 2);
    assert!(matches!(serial(&mut storage, 3), Err(Error::RolledBack)));
    drop(storage);
    std::fs::remove_dir_all(&folder).unwrap();
}
