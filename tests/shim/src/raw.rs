//! The caller's pointers. Each type here is a parameter of an exported function; its values are made only by a C
//! caller, who owes what the driver's documentation says of the parameter. The invariants, relied upon by number:
//!
//! * **R1** An [`Out`] is null or valid for one write until the call returns, an [`In`] likewise for one read, an
//!   [`InOut`] for both.
//! * **R2** A [`Text`] is null or a string that ends with NUL, unchanged until the call returns; so is an [`Image`]
//!   that does not begin like compiled code.
//! * **R3** [`Parameters`] are null or point to one pointer for each parameter of the launched kernel, each to a value
//!   of the parameter's size; [`Extra`] is null or a list of names and values that ends with `CU_LAUNCH_PARAM_END`.
//! * **R4** [`Options`] are arrays of as many names and values as the count beside them says; a log buffer has the
//!   size that stands beside it.
//! * **R5** A [`HostFunction`] may be called once with its argument, on any thread.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};

use crate::backend::HostPointer;
use crate::codes::{Answer, Code};

/// Where a result goes.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Writes the result; a null pointer is refused.
    pub fn set(&self, value: T) -> Answer {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes the result, or drops it if the caller gave a null pointer.
    pub fn set_if_wanted(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: valid for a write (R1); unaligned, so that nothing depends on the caller's alignment.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

/// A structure that the caller passes by its address.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T: Plain> In<T> {
    /// The structure; a null pointer is refused.
    pub fn get(&self) -> Answer<T> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: valid for a read (R1), and every bit pattern is a `T`.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// A value that the caller passes by its address, and a result that goes to the same place.
#[repr(transparent)]
#[derive(Debug)]
pub struct InOut<T>(*mut T);

impl<T: Plain> InOut<T> {
    /// The place to read and the one to write.
    pub fn split(self) -> (In<T>, Out<T>) {
        (In(self.0), Out(self.0))
    }
}

/// A structure of integers, or one, in which every bit pattern is a value.
///
/// # Safety
/// It has only such fields.
pub unsafe trait Plain: Copy {}

/// A string.
#[repr(transparent)]
#[derive(Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The string; null, or what is not UTF-8, is refused.
    pub fn get(&self) -> Answer<&str> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: ends with NUL and stays as it is (R2); the lifetime is the call's, whose argument `self` is.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Code::INVALID_VALUE)
    }
}

/// A module to load.
#[repr(transparent)]
#[derive(Debug)]
pub struct Image(*const c_void);

/// How a file of compiled code begins: an ELF file, nvcc's container, and the wrapper that it links into programs.
const COMPILED: [[u8; 4]; 3] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes(), 0x4662_43b1_u32.to_le_bytes()];

impl Image {
    /// The PTX; null, or bytes that are no text, are refused.
    pub fn ptx(&self) -> Answer<&str> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if COMPILED.iter().any(|begin| self.begins_with(begin)) {
            return Err(Code::NO_BINARY_FOR_GPU);
        }
        Text(self.0.cast()).get_for(self).map_err(|_| Code::INVALID_IMAGE)
    }

    /// Reads no further than the first byte that differs, so not beyond the end of a text.
    fn begins_with(&self, begin: &[u8; 4]) -> bool {
        begin.iter().enumerate().all(|(at, &byte)| {
            let pointer = self.0.cast::<u8>().wrapping_add(at);
            // SAFETY: the bytes before were those of `begin`, none of which is NUL, so the text, or the compiled
            // code, goes on here (R2).
            byte == unsafe { pointer.read() }
        })
    }
}

impl Text {
    /// The same with the lifetime of the argument that it was made from.
    fn get_for<'a>(&self, _argument: &'a Image) -> Answer<&'a str> {
        // SAFETY: ends with NUL and stays as it is until the call returns (R2).
        let text = unsafe { CStr::from_ptr::<'a>(self.0) };
        text.to_str().map_err(|_| Code::INVALID_IMAGE)
    }
}

/// Room for a string.
#[repr(transparent)]
#[derive(Debug)]
pub struct TextBuffer(*mut c_char);

impl TextBuffer {
    /// Writes as much of `text` as fits into `size` bytes, and a NUL; returns the bytes written, NUL included.
    pub fn fill(&self, text: &str, size: usize) -> usize {
        let Some(room) = size.checked_sub(1) else { return 0 };
        if self.0.is_null() {
            return 0;
        }
        let bytes = &text.as_bytes()[..text.len().min(room)];
        // SAFETY: the buffer has `size` bytes (R1, R4), the string is shorter, and a Rust string overlaps no buffer
        // of the caller's.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast(), bytes.len()) };
        let end = self.0.wrapping_add(bytes.len());
        // SAFETY: at most the buffer's last byte.
        unsafe { end.write(0) };
        bytes.len() + 1
    }
}

/// Host memory of a copy.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct HostMemory(*mut c_void);

impl HostMemory {
    pub fn from_address(address: u64) -> Self {
        Self(ptr::with_exposed_provenance_mut(address as usize))
    }

    pub fn new(pointer: NonNull<u8>) -> Self {
        Self(pointer.as_ptr().cast())
    }

    pub fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// The place `offset` bytes on; null is refused.
    pub fn at(self, offset: usize) -> Answer<HostPointer> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let pointer = NonNull::new(self.0.cast::<u8>().wrapping_add(offset));
        pointer.map(HostPointer).ok_or(Code::INVALID_VALUE)
    }
}

/// The values of a launch, one pointer for each parameter.
#[repr(transparent)]
#[derive(Debug)]
pub struct Parameters(*mut *mut c_void);

impl Parameters {
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Copies the value of a parameter of the launched kernel; `into` has its size.
    pub fn read(&self, index: usize, into: &mut [u8]) -> Answer {
        let place = self.0.wrapping_add(index);
        // SAFETY: the caller's list has a pointer for each parameter (R3).
        let value = unsafe { place.read_unaligned() };
        if value.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the value has the parameter's size (R3), which is that of `into`, a slice of our own.
        unsafe { ptr::copy_nonoverlapping(value.cast(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }
}

/// The values of a launch, packed.
#[repr(transparent)]
#[derive(Debug)]
pub struct Extra(*mut *mut c_void);

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`; the list ends with 0.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;

impl Extra {
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Copies the packed values; the caller's buffer may be no smaller than `into`.
    pub fn read(&self, into: &mut [u8]) -> Answer {
        let (mut buffer, mut size) = (ptr::null_mut(), None);
        for pair in 0.. {
            match self.word(2 * pair).addr() {
                0 => break,
                BUFFER_POINTER => buffer = self.word(2 * pair + 1),
                BUFFER_SIZE => {
                    let place = self.word(2 * pair + 1).cast::<usize>();
                    // SAFETY: the value behind this name points to the buffer's size (R3).
                    size = Some(unsafe { place.read_unaligned() });
                }
                _ => return Err(Code::INVALID_VALUE),
            }
        }
        if buffer.is_null() || size.is_none_or(|size| size < into.len()) {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the buffer has at least as many bytes as `into`, a slice of our own.
        unsafe { ptr::copy_nonoverlapping(buffer.cast(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// An element of the list.
    fn word(&self, index: usize) -> *mut c_void {
        let place = self.0.wrapping_add(index);
        // SAFETY: asked for in order up to the end of the list (R3).
        unsafe { place.read_unaligned() }
    }
}

/// The options of a module load.
#[derive(Debug)]
pub struct Options {
    names: *mut c_uint,
    values: *mut *mut c_void,
    count: c_uint,
}

impl Options {
    pub const NONE: Self = Self { names: ptr::null_mut(), values: ptr::null_mut(), count: 0 };

    /// Options as the parameters of `cuModuleLoadDataEx` give them.
    pub fn new(count: c_uint, names: OptionNames, values: OptionValues) -> Answer<Self> {
        if count > 0 && (names.0.is_null() || values.0.is_null()) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self { names: names.0, values: values.0, count })
    }

    /// Where the option of this number stands.
    fn find(&self, option: c_uint) -> Option<usize> {
        (0..self.count as usize).find(|&index| {
            let place = self.names.wrapping_add(index);
            // SAFETY: `index` is less than the length of the array (R4).
            option == unsafe { place.read_unaligned() }
        })
    }

    fn value(&self, index: usize) -> *mut c_void {
        let place = self.values.wrapping_add(index);
        // SAFETY: `index` came from `find`, so it is less than the length of the array (R4).
        unsafe { place.read_unaligned() }
    }

    /// Writes a log into the buffer that option `buffer` names, and its length over the value of option `size`.
    pub fn write_log(&self, buffer: c_uint, size: c_uint, text: &str) {
        let (Some(buffer), Some(size)) = (self.find(buffer), self.find(size)) else { return };
        let room = self.value(size).addr();
        let written = TextBuffer(self.value(buffer).cast()).fill(text, room);
        let place = self.values.wrapping_add(size);
        // SAFETY: `size` came from `find`, so it is less than the length of the array (R4).
        unsafe { place.write_unaligned(ptr::without_provenance_mut(written)) };
    }
}

/// The names of a module load's options.
#[repr(transparent)]
#[derive(Debug)]
pub struct OptionNames(*mut c_uint);

/// The values of a module load's options: numbers and addresses alike.
#[repr(transparent)]
#[derive(Debug)]
pub struct OptionValues(*mut *mut c_void);

/// A function of the caller's that runs in a stream's order.
#[derive(Debug)]
pub struct HostFunction {
    function: extern "C" fn(*mut c_void),
    argument: UserData,
}

/// What the caller wants back in its function.
#[repr(transparent)]
#[derive(Debug)]
pub struct UserData(*mut c_void);

// SAFETY: the pointer is only handed back, to a function that may run on any thread (R5).
unsafe impl Send for UserData {}

impl HostFunction {
    pub fn new(function: Option<extern "C" fn(*mut c_void)>, argument: UserData) -> Answer<Self> {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        Ok(Self { function, argument })
    }

    pub fn call(self) {
        (self.function)(self.argument.0);
    }
}

/// One side of `CUDA_MEMCPY2D` or `CUDA_MEMCPY3D` names its memory by this (`CUmemorytype`).
pub type MemoryType = c_uint;

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Copy2d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: MemoryType,
    pub src_host: usize,
    pub src_device: u64,
    pub src_array: usize,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: MemoryType,
    pub dst_host: usize,
    pub dst_device: u64,
    pub dst_array: usize,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

// SAFETY: integers only.
unsafe impl Plain for Copy2d {}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Copy3d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: MemoryType,
    pub src_host: usize,
    pub src_device: u64,
    pub src_array: usize,
    pub reserved0: usize,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: MemoryType,
    pub dst_host: usize,
    pub dst_device: u64,
    pub dst_array: usize,
    pub reserved1: usize,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

// SAFETY: integers only.
unsafe impl Plain for Copy3d {}

// SAFETY: an integer.
unsafe impl Plain for c_int {}

// the sizes that `cuda.h` gives on a 64-bit system
const _: () = assert!(size_of::<Copy2d>() == 128 && size_of::<Copy3d>() == 200 && size_of::<c_int>() == 4);
