//! The samplers of @package@ for WebAssembly: random bytes are imported, reports are numbers or bytes.

// @if numbers
use std::cell::Cell;
// @end
// @if items
use std::cell::RefCell;
// @end

thread_local! {
// @if numbers
    static REPORT: Cell<f64> = const { Cell::new(0.0) };
// @end
// @if items
    static BYTES: RefCell<[u8; @most@]> = const { RefCell::new([0; @most@]) };
// @end
}

#[link(wasm_import_module = "env")]
extern "C" {
    /// Overwrites so many bytes with random ones; 0 on success.
    fn random(at: *mut u8, count: usize) -> i32;
}

trait Why: Copy {
    fn bad_input(self) -> bool;
}

fn asked<E>(bytes: &mut [u8], none: E) -> Result<(), E> {
    // SAFETY: the import writes exactly so many bytes of this slice, or fails.
    if unsafe { random(bytes.as_mut_ptr(), bytes.len()) } == 0 { Ok(()) } else { Err(none) }
}

// @if numbers
/// A report from bytes that are set apart for it: as many for every input, and more only where they do not suffice.
fn allotted<const N: usize, E: Copy, F>(report: F, none: E) -> Result<f64, E>
where
    F: FnOnce(&mut dyn FnMut(&mut [u8]) -> Result<(), E>) -> Result<f64, E>,
{
    let mut own = [0u8; N];
    asked(&mut own, none)?;
    let mut used = 0;
    report(&mut |bytes| {
        if bytes.len() > N - used {
            return asked(bytes, none);
        }
        bytes.copy_from_slice(&own[used..used + bytes.len()]);
        used += bytes.len();
        Ok(())
    })
}

// @end
// @if items
/// The item that a number of JavaScript is; what is none is an item that no table has.
fn item(x: f64) -> u64 {
    if x >= 0.0 && x.fract() == 0.0 { x as u64 } else { u64::MAX }
}

fn kept<E: Why>(drawn: Result<impl AsRef<[u8]>, E>) -> i32 {
    match drawn {
        Ok(report) => {
            let report = report.as_ref();
            BYTES.with(|bytes| bytes.borrow_mut()[..report.len()].copy_from_slice(report));
            0
        }
        Err(error) => 2 - i32::from(error.bad_input()),
    }
}

/// Where the bytes are of the last call that gave any.
#[no_mangle]
pub extern "C" fn bytes() -> *const u8 {
    BYTES.with(|bytes| bytes.as_ptr().cast())
}

// @end
// @if numbers
fn outcome<E: Why>(drawn: Result<f64, E>) -> i32 {
    match drawn {
        Ok(y) => {
            REPORT.with(|report| report.set(y));
            0
        }
        Err(error) => 2 - i32::from(error.bad_input()),
    }
}

/// The report of the last call that gave one.
#[no_mangle]
pub extern "C" fn report() -> f64 {
    REPORT.with(Cell::get)
}
// @end

@exports@
