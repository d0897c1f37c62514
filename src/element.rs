//! What may lie in device memory: plain data, and the scalars among it that a kernel takes by value.

use bytemuck::Pod;

/// A type whose values may lie in device memory.
///
/// Plain old data in the sense of [`bytemuck::Pod`]: no padding, no pointers, every bit pattern a value, so bytes that
/// a kernel wrote are always a valid `T`. That is why `bool`, references and `String` are refused:
///
/// ```compile_fail
/// use scoped_gpu::{Device, Linear};
/// Device::with(|ctx| ctx.alloc_linear(8, |flags: Linear<bool>| scoped_gpu::ok(flags.len()))).unwrap();
/// ```
///
/// Implemented for the integers, `f32`, `f64` and arrays `[T; N]` of them; with the features `half` and `num-complex`
/// for `half::{f16, bf16}` and `num_complex::Complex`. A type of your own that is `Pod` becomes an element by
/// `impl scoped_gpu::Element for Particle {}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "every bit pattern of an element is a value, and it has no padding and no pointers",
    note = "elements are integers, `f32`, `f64`, arrays of them, and types for which you write `impl Element`, which are `bytemuck::Pod`; for `bool` take `u8`"
)]
pub trait Element: Pod + Send + Sync {}

/// A number that a kernel takes by value, as one `.param` of its own width.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number that a kernel takes by value",
    note = "those are the integers, `f32`, `f64`, and with their features `half::f16` and `half::bf16`"
)]
pub trait Scalar: Element {
    /// Whether PTX calls it an integer or a float; the width is the type's size.
    const KIND: ScalarKind;
    /// The name in messages, as Rust writes it.
    const NAME: &'static str;
}

/// The kinds of scalar parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// A signed or unsigned integer.
    Integer,
    /// An IEEE float.
    Float,
}

macro_rules! scalars {
    ($($kind:ident: $($t:ty)+;)+) => {$($(
        impl Element for $t {}
        impl Scalar for $t {
            const KIND: ScalarKind = ScalarKind::$kind;
            const NAME: &'static str = stringify!($t);
        }
    )+)+};
}

scalars! {
    Integer: u8 i8 u16 i16 u32 i32 u64 i64;
    Float: f32 f64;
}

impl Element for u128 {}
impl Element for i128 {}
impl<T: Element, const N: usize> Element for [T; N] {}

#[cfg(feature = "half")]
scalars! {
    Float: half::f16 half::bf16;
}

#[cfg(feature = "num-complex")]
impl<T: Element + num_complex::ComplexFloat> Element for num_complex::Complex<T> where
    num_complex::Complex<T>: Pod
{
}
