//! Plain Rust references for the kernels of `ptx/` and `tests/corpus/`: one function per kernel, written from the
//! CUDA C source, sequential, with no knowledge of how a GPU is emulated. What compares results lives here;
//! nothing that launches a kernel does.
//!
//! A function takes the kernel's parameters in the kernel's order. What the kernel writes is a `&mut` slice, or the
//! return value where the result is a bound. Pitch parameters are left out where the reference works on dense
//! rows. Three kinds of result:
//!
//! * integers and exactly rounded `f32`: bit for bit. nvcc fuses `a * b + c` into `fma.rn` unless told otherwise;
//!   the references of such kernels say `mul_add` in exactly the places where the PTX says `fma`. Bare `mul.f32`
//!   and `add.f32` stay separate here; a GPU's assembler may fuse them, so on a GPU the functions marked
//!   *may fuse* need a tolerance of one rounding of each product.
//! * approximate instructions (`ex2.approx`, `rsqrt.approx`, …) and sums whose order is free: computed in `f64`,
//!   returned as [`Bound`]s with an error derived beside the computation.

pub mod checks;
pub mod common;
pub mod half;
pub mod own;
pub mod python;
pub mod random;

/// Unit roundoff of `f32`: an exactly rounded operation is off by at most this, relative to its result.
pub const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// A result that a kernel may miss by a little: any value within `error` of `value` is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The result in double precision.
    pub value: f64,
    /// The largest absolute error that the kernel's instructions can add up to.
    pub error: f64,
}

impl Bound {
    /// Whether `got` is a right result. A NaN never is.
    pub fn admits(self, got: f32) -> bool {
        (f64::from(got) - self.value).abs() <= self.error
    }
}

/// Says where `got` first differs from `expected` in its bits, so that NaN equals itself and -0.0 is not 0.0.
pub fn compare_bits(got: &[f32], expected: &[f32]) -> Result<(), String> {
    compare(got, expected, |got, expected| got.to_bits() == expected.to_bits())
}

/// Says where `got` first leaves its bound.
pub fn compare_bounds(got: &[f32], expected: &[Bound]) -> Result<(), String> {
    compare(got, expected, |got, expected| expected.admits(*got))
}

fn compare<G, E>(got: &[G], expected: &[E], same: impl Fn(&G, &E) -> bool) -> Result<(), String>
where
    G: std::fmt::Debug,
    E: std::fmt::Debug,
{
    if got.len() != expected.len() {
        return Err(format!("{} elements, expected {}", got.len(), expected.len()));
    }
    let wrong = |(got, expected): &(&G, &E)| !same(got, expected);
    let differing = got.iter().zip(expected).filter(wrong).count();
    match got.iter().zip(expected).position(|pair| wrong(&pair)) {
        None => Ok(()),
        Some(i) => Err(format!(
            "element {i} is {:?}, expected {:?} ({differing} of {} elements differ)",
            got[i],
            expected[i],
            got.len()
        )),
    }
}
