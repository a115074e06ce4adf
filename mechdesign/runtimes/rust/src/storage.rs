use super::device::{DeviceError, Storage};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::{io, process};

/// A state in a file, locked through a file beside it as long as it lives. It writes beside the file, has the disk
/// confirm it, and renames: at every moment the file holds one state or the other.
pub struct FileStorage {
    path: PathBuf,
    _lock: File,
    owner: u32,
}

impl FileStorage {
    /// The state of a file, or [`DeviceError::Busy`] while another process has it.
    pub fn open(path: impl Into<PathBuf>) -> Result<FileStorage, DeviceError> {
        let path = path.into();
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let lock = options.open(beside(&path, ".lock")).map_err(DeviceError::Storage)?;
        match lock.try_lock() {
            Ok(()) => Ok(FileStorage { path, _lock: lock, owner: process::id() }),
            Err(TryLockError::WouldBlock) => Err(DeviceError::Busy),
            Err(TryLockError::Error(error)) => Err(DeviceError::Storage(error)),
        }
    }

    /// A child of `fork` shares the lock, and has no state of its own.
    fn require_owner(&self) -> io::Result<()> {
        if self.owner == process::id() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "the state is another process's"))
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Storage for FileStorage {
    fn load(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.require_owner()?;
        match std::fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn store(&mut self, content: &[u8]) -> io::Result<()> {
        self.require_owner()?;
        let new = beside(&self.path, ".new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        io::Write::write_all(&mut file, content)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        #[cfg(unix)]
        {
            // so that a power cut does not undo the rename
            let folder = self.path.parent().filter(|path| !path.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}
