//! Randomness of each system, and whether a child of fork() forgets what its parent read.
#![cfg(any(unix, windows, feature = "wasm"))]

use super::error::Error;

#[cfg(target_vendor = "apple")]
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
    unsafe extern "C" {
        fn CCRandomGenerateBytes(buffer: *mut u8, length: usize) -> i32;
    }
    // SAFETY: CCRandomGenerateBytes writes exactly `length` bytes or fails.
    let outcome = unsafe { CCRandomGenerateBytes(bytes.as_mut_ptr(), bytes.len()) };
    if outcome == 0 {
        Ok(())
    } else {
        Err(Error::NoRandomness)
    }
}

#[cfg(target_os = "android")]
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
    unsafe extern "C" {
        fn arc4random_buf(buffer: *mut u8, length: usize); // getrandom is not there before API 28
    }
    // SAFETY: arc4random_buf writes exactly `length` bytes, and ends the process where it cannot.
    unsafe { arc4random_buf(bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}

#[cfg(all(target_os = "linux", not(any(target_os = "android", target_vendor = "apple"))))]
pub fn read(mut bytes: &mut [u8]) -> Result<(), Error> {
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
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
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
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
    #[link(name = "bcryptprimitives", kind = "raw-dylib")]
    unsafe extern "system" {
        fn ProcessPrng(buffer: *mut u8, length: usize) -> i32;
    }
    // SAFETY: ProcessPrng writes exactly `length` bytes or fails.
    let outcome = unsafe { ProcessPrng(bytes.as_mut_ptr(), bytes.len()) };
    if outcome == 1 {
        Ok(())
    } else {
        Err(Error::NoRandomness)
    }
}

/// The package's JavaScript gives it, from `crypto.getRandomValues`.
#[cfg(all(feature = "wasm", not(any(unix, windows))))]
pub fn read(bytes: &mut [u8]) -> Result<(), Error> {
    #[link(wasm_import_module = "env")]
    extern "C" {
        fn random(at: *mut u8, count: usize) -> i32;
    }
    // SAFETY: the import writes exactly `count` bytes, or fails.
    let outcome = unsafe { random(bytes.as_mut_ptr(), bytes.len()) };
    if outcome == 0 {
        Ok(())
    } else {
        Err(Error::NoRandomness)
    }
}

/// Whether a child of fork() will forget the bytes that its parent may use.
#[cfg(unix)]
pub fn can_pool() -> bool {
    use std::sync::OnceLock;
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> i32;
    }
    static IS_TOLD: OnceLock<bool> = OnceLock::new();
    // SAFETY: the function that is registered sets a number of this thread, and cannot unwind.
    *IS_TOLD.get_or_init(|| unsafe { pthread_atfork(None, None, Some(super::pool::forget)) } == 0)
}

#[cfg(not(unix))]
pub fn can_pool() -> bool {
    true
}
