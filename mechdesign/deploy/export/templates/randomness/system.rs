#[cfg(any(unix, windows))]
mod system {
    use super::Error;
    use std::cell::{Cell, RefCell};

    const POOL: usize = 4096;
    thread_local! {
        static BLOCK: RefCell<[u8; POOL]> = const { RefCell::new([0; POOL]) };
        /// The last so many bytes of the block are not used yet.
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }

// @if numbers
    /// As many random bytes as are set apart for a report.
    pub fn allot<const COUNT: usize>() -> Result<[u8; COUNT], Error> {
        let left = LEFT.with(Cell::get);
        let mut own = [0u8; COUNT];
        if left < COUNT {
            take(&mut own)?;
            return Ok(own);
        }
        LEFT.with(|rest| rest.set(left - COUNT));
        BLOCK.with(|block| {
            let block = &mut block.borrow_mut()[POOL - left..POOL - left + COUNT];
            own.copy_from_slice(block);
            block.fill(0);
        });
        Ok(own)
    }

// @end
    /// Random bytes from this thread's block, where they are erased.
    pub fn take(mut bytes: &mut [u8]) -> Result<(), Error> {
        let (count, left) = (bytes.len(), LEFT.with(Cell::get));
        if count <= left.min(8) {
            // a number at most: sooner done byte by byte
            LEFT.with(|rest| rest.set(left - count));
            BLOCK.with(|block| {
                let block = &mut block.borrow_mut()[POOL - left..POOL - left + count];
                for (byte, next) in bytes.iter_mut().zip(block) {
                    *byte = std::mem::take(next);
                }
            });
            return Ok(());
        }
        while !bytes.is_empty() {
            if LEFT.with(Cell::get) == 0 {
                if !can_pool() {
                    return read(bytes);
                }
                BLOCK.with(|block| read(&mut block.borrow_mut()[..]))?;
                LEFT.with(|left| left.set(POOL));
            }
            let left = LEFT.with(Cell::get);
            let part = bytes.len().min(left);
            LEFT.with(|rest| rest.set(left - part));
            let (first, others) = bytes.split_at_mut(part);
            BLOCK.with(|block| {
                let block = &mut block.borrow_mut()[POOL - left..POOL - left + part];
                first.copy_from_slice(block);
                block.fill(0);
            });
            bytes = others;
        }
        Ok(())
    }

    /// Whether a child of fork() will forget the bytes that its parent may use.
    #[cfg(unix)]
    fn can_pool() -> bool {
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::sync::Once;
        unsafe extern "C" {
            fn pthread_atfork(
                prepare: Option<extern "C" fn()>,
                parent: Option<extern "C" fn()>,
                child: Option<extern "C" fn()>,
            ) -> i32;
        }
        extern "C" fn forget() {
            LEFT.try_with(|left| left.set(0)).unwrap_or(());
        }
        static ONCE: Once = Once::new();
        static IS_TOLD: AtomicBool = AtomicBool::new(false);
        // SAFETY: the function that is registered sets a number of this thread, and cannot unwind.
        ONCE.call_once(|| IS_TOLD.store(unsafe { pthread_atfork(None, None, Some(forget)) } == 0, Ordering::Relaxed));
        IS_TOLD.load(Ordering::Relaxed)
    }

    #[cfg(windows)]
    fn can_pool() -> bool {
        true
    }

    #[cfg(target_vendor = "apple")]
    fn read(bytes: &mut [u8]) -> Result<(), Error> {
        unsafe extern "C" {
            fn CCRandomGenerateBytes(buffer: *mut u8, length: usize) -> i32;
        }
        // SAFETY: CCRandomGenerateBytes writes exactly `length` bytes or fails.
        let outcome = unsafe { CCRandomGenerateBytes(bytes.as_mut_ptr(), bytes.len()) };
        if outcome == 0 { Ok(()) } else { Err(Error::NoRandomness) }
    }

    #[cfg(all(any(target_os = "linux", target_os = "android"), not(target_vendor = "apple")))]
    fn read(mut bytes: &mut [u8]) -> Result<(), Error> {
        unsafe extern "C" {
            fn getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize;
        }
        while !bytes.is_empty() {
            // SAFETY: getrandom writes at most `length` bytes, and says how many.
            let got = unsafe { getrandom(bytes.as_mut_ptr(), bytes.len(), 0) };
            if got > 0 {
                bytes = &mut bytes[got as usize..];
            } else if got == 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                return Err(Error::NoRandomness);
            }
        }
        Ok(())
    }

    #[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
    fn read(bytes: &mut [u8]) -> Result<(), Error> {
        unsafe extern "C" {
            fn getentropy(buffer: *mut u8, length: usize) -> i32;
        }
        for part in bytes.chunks_mut(256) {
            // SAFETY: getentropy writes exactly `length` bytes (at most 256) or fails.
            if unsafe { getentropy(part.as_mut_ptr(), part.len()) } != 0 {
                return Err(Error::NoRandomness);
            }
        }
        Ok(())
    }

    #[cfg(windows)]
    fn read(bytes: &mut [u8]) -> Result<(), Error> {
        #[link(name = "bcryptprimitives", kind = "raw-dylib")]
        unsafe extern "system" {
            fn ProcessPrng(buffer: *mut u8, length: usize) -> i32;
        }
        // SAFETY: ProcessPrng writes exactly `length` bytes or fails.
        let outcome = unsafe { ProcessPrng(bytes.as_mut_ptr(), bytes.len()) };
        if outcome == 1 { Ok(()) } else { Err(Error::NoRandomness) }
    }
}
