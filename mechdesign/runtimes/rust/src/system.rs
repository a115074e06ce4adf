//! The operating system's randomness, read in blocks, one for each thread. Bytes are erased when they were used, and a
//! child of fork() begins with none.
#![cfg(any(unix, windows, feature = "wasm"))]

use super::bits::{Block, Source};
use super::error::Error;

thread_local! {
    static OF_THREAD: Block = const { Block::new() };
}

/// What is drawn from this thread's block.
#[inline]
pub fn with_block<T>(draw: impl FnOnce(&mut Source) -> T) -> T {
    OF_THREAD.with(|block| block.with(Some(can_pool), &mut read, draw))
}

/// Overwrites bytes with random ones that the system is asked for now.
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
    filled(bytes).then_some(()).ok_or(Error::NoRandomness)
}

#[cfg(target_vendor = "apple")]
fn filled(bytes: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn CCRandomGenerateBytes(buffer: *mut u8, length: usize) -> i32;
    }
    // SAFETY: CCRandomGenerateBytes writes exactly `length` bytes or fails.
    unsafe { CCRandomGenerateBytes(bytes.as_mut_ptr(), bytes.len()) == 0 }
}

#[cfg(target_os = "android")]
fn filled(bytes: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn arc4random_buf(buffer: *mut u8, length: usize); // getrandom is not there before API 28
    }
    // SAFETY: arc4random_buf writes exactly `length` bytes, and ends the process where it cannot.
    unsafe { arc4random_buf(bytes.as_mut_ptr(), bytes.len()) };
    true
}

#[cfg(all(target_os = "linux", not(any(target_os = "android", target_vendor = "apple"))))]
fn filled(mut bytes: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize;
    }
    while !bytes.is_empty() {
        // SAFETY: getrandom writes at most `length` bytes, and says how many.
        let got = unsafe { getrandom(bytes.as_mut_ptr(), bytes.len(), 0) };
        if got > 0 {
            bytes = &mut bytes[got as usize..];
        } else if got == 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
    true
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn filled(bytes: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn getentropy(buffer: *mut u8, length: usize) -> i32;
    }
    // SAFETY: getentropy writes exactly `length` bytes (at most 256) or fails.
    bytes.chunks_mut(256).all(|part| unsafe { getentropy(part.as_mut_ptr(), part.len()) } == 0)
}

#[cfg(windows)]
fn filled(bytes: &mut [u8]) -> bool {
    #[link(name = "bcryptprimitives", kind = "raw-dylib")]
    unsafe extern "system" {
        fn ProcessPrng(buffer: *mut u8, length: usize) -> i32;
    }
    // SAFETY: ProcessPrng writes exactly `length` bytes or fails.
    unsafe { ProcessPrng(bytes.as_mut_ptr(), bytes.len()) == 1 }
}

/// The package's JavaScript gives it, from `crypto.getRandomValues`.
#[cfg(all(feature = "wasm", not(any(unix, windows))))]
fn filled(bytes: &mut [u8]) -> bool {
    #[link(wasm_import_module = "env")]
    extern "C" {
        fn random(at: *mut u8, count: usize) -> i32;
    }
    // SAFETY: the import writes exactly `count` bytes, or fails.
    unsafe { random(bytes.as_mut_ptr(), bytes.len()) == 0 }
}

/// Whether a child of fork() will forget the bytes that its parent may use.
#[cfg(unix)]
fn can_pool() -> bool {
    use std::sync::OnceLock;
    type Told = Option<extern "C" fn()>;
    unsafe extern "C" {
        fn pthread_atfork(prepare: Told, parent: Told, child: Told) -> i32;
    }
    extern "C" fn forget() {
        OF_THREAD.try_with(Block::forget).unwrap_or(());
    }
    static IS_TOLD: OnceLock<bool> = OnceLock::new();
    // SAFETY: the function that is registered sets a number of this thread, and cannot unwind.
    *IS_TOLD.get_or_init(|| unsafe { pthread_atfork(None, None, Some(forget)) } == 0)
}

#[cfg(not(unix))]
fn can_pool() -> bool {
    true
}
