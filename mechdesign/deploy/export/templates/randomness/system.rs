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

// @include randomness/read.rs
}
