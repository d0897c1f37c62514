//! A launch as data, so that two devices can be given the same one: a kernel, its shape, its arguments, and what its
//! results are. How a device runs it is in `host` and `driver`.

use std::rc::Rc;

/// A value or an array passed to a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    /// Bytes that the kernel only reads.
    Input(Vec<u8>),
    /// Bytes before the launch, for what the kernel writes.
    Output(Vec<u8>),
}

/// A kernel and everything that a launch of it needs.
#[derive(Clone, Debug)]
pub struct Job {
    /// Text of the module, shared by the jobs of a file.
    pub module: Rc<str>,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub arguments: Vec<Argument>,
}

impl Job {
    /// One block of one thread, without arguments.
    pub fn new(module: &Rc<str>, kernel: &str) -> Self {
        Self {
            module: Rc::clone(module),
            kernel: kernel.to_owned(),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            arguments: Vec::new(),
        }
    }

    pub fn shape(mut self, grid: [u32; 2], block: [u32; 2]) -> Self {
        self.grid = [grid[0], grid[1], 1];
        self.block = [block[0], block[1], 1];
        self
    }

    pub fn shared(mut self, bytes: u32) -> Self {
        self.shared = bytes;
        self
    }

    pub fn u32(self, value: u32) -> Self {
        self.argument(Argument::U32(value))
    }

    pub fn u64(self, value: u64) -> Self {
        self.argument(Argument::U64(value))
    }

    pub fn f32(self, value: f32) -> Self {
        self.argument(Argument::F32(value))
    }

    pub fn f64(self, value: f64) -> Self {
        self.argument(Argument::F64(value))
    }

    pub fn input<T: Plain>(self, values: &[T]) -> Self {
        self.argument(Argument::Input(bytes(values)))
    }

    pub fn output<T: Plain>(self, values: &[T]) -> Self {
        self.argument(Argument::Output(bytes(values)))
    }

    pub fn argument(mut self, argument: Argument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// Numbers that arrays are made of.
pub trait Plain: Copy {
    fn push(self, bytes: &mut Vec<u8>);
}

macro_rules! plain {
    ($($ty:ty)+) => {$(
        impl Plain for $ty {
            fn push(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )+};
}

plain!(u8 u16 i32 u32 i64 u64 f32 f64);

/// The bytes of `values` as devices store them.
pub fn bytes<T: Plain>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    values.iter().for_each(|value| value.push(&mut bytes));
    bytes
}
