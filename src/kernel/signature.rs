//! What a kernel takes, as Rust types, and the comparison with the `.param` list of its PTX.

use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use smallvec::SmallVec;

use crate::element::{Element, Scalar, ScalarKind};
use crate::ptx::signature::{KernelParameter, KernelSignature, ParameterKind};

/// A parameter of a kernel: a pointer to elements that it only reads.
///
/// A kernel that is seen to store through it is refused by [`Module::kernel`](crate::Module::kernel); a store that only
/// a run can show to go there is a fault of that launch.
///
/// Arguments are `&x` of an array, or a [`View`](crate::View).
#[derive(Debug)]
pub struct Read<T>(PhantomData<fn() -> T>);

/// A parameter of a kernel: a pointer to elements that it only writes.
///
/// Arguments are `&mut y` of an array, or a [`ViewMut`](crate::ViewMut).
#[derive(Debug)]
pub struct Write<T>(PhantomData<fn() -> T>);

/// A parameter of a kernel: a pointer to elements that it reads and writes.
///
/// Arguments are `&mut y` of an array, or a [`ViewMut`](crate::ViewMut).
#[derive(Debug)]
pub struct ReadWrite<T>(PhantomData<fn() -> T>);

/// A type that can stand in a [`Signature`]: a [`Scalar`], [`Read`], [`Write`] or [`ReadWrite`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel",
    label = "neither a number nor `Read<T>`, `Write<T>`, `ReadWrite<T>`",
    note = "a pointer of the PTX is `Read<T>`, `Write<T>` or `ReadWrite<T>`; the array itself is named at the launch"
)]
pub trait Parameter: sealed::Sealed + 'static {
    #[doc(hidden)]
    fn declaration() -> Declaration;
}

mod sealed {
    pub trait Sealed {}
}

/// One parameter as Rust declares it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) pointee: Option<&'static str>,
    pub(crate) size: usize,
    pub(crate) float: bool,
}

impl<T: Scalar> sealed::Sealed for T {}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Parameter for T {
    fn declaration() -> Declaration {
        Declaration {
            name: T::NAME,
            pointee: None,
            size: size_of::<T>(),
            float: T::KIND == ScalarKind::Float,
        }
    }
}

macro_rules! pointer {
    ($($name:ident)+) => {$(
        impl<T> sealed::Sealed for $name<T> {}

        #[diagnostic::do_not_recommend]
        impl<T: Element> Parameter for $name<T> {
            fn declaration() -> Declaration {
                Declaration {
                    name: stringify!($name),
                    pointee: Some(std::any::type_name::<T>()),
                    size: 8,
                    float: false,
                }
            }
        }
    )+};
}

pointer!(Read Write ReadWrite);

/// `f32`, `Read<f32>`
impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointee {
            Some(element) => write!(f, "{}<{element}>", self.name),
            None => f.write_str(self.name),
        }
    }
}

impl Declaration {
    /// Whether it is a pointer that the kernel only reads through.
    pub(crate) fn is_read_only(&self) -> bool {
        self.pointee.is_some() && self.name == "Read"
    }

    /// Whether the parameter of a module with addresses of so many bits can take it; the reason if not.
    fn mismatch(&self, parameter: &KernelParameter, address_size: u32) -> Option<String> {
        let (kind, size) = (parameter.kind, parameter.size as usize);
        if self.pointee.is_some() && address_size != 64 {
            return Some(format!(
                "`{kind}` there, `{self}` here, and addresses of {address_size} bits: `.address_size 64` is missing"
            ));
        }
        if size != self.size {
            return Some(format!("`{kind}` of {size} bytes there, `{self}` of {} here", self.size));
        }
        let differ = match (self.pointee.is_some(), kind) {
            (true, kind) => !kind.may_be_pointer(),
            (false, ParameterKind::Pointer { .. }) => true,
            (false, ParameterKind::Float(_)) => !self.float,
            (false, ParameterKind::Integer(_)) => self.float,
            (false, ParameterKind::Array(..) | ParameterKind::Handle(_)) => {
                return Some(format!("`{kind}` by value there, which no scalar is"));
            }
            _ => false,
        };
        differ.then(|| format!("`{kind}` there, `{self}` here"))
    }
}

/// What a kernel takes: a tuple of up to sixteen [`Parameter`]s, in the order of the PTX; or
/// [`Dynamic`](crate::Dynamic).
///
/// ```
/// use scoped_gpu::{Read, ReadWrite, Signature};
/// type Saxpy = (f32, Read<f32>, ReadWrite<f32>, u32);
/// fn takes_a_signature<S: Signature>() {}
/// takes_a_signature::<Saxpy>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of a kernel",
    label = "no tuple of at most sixteen parameters",
    note = "such as `(Read<f32>, ReadWrite<f32>, u32)`; a kernel of one parameter has `(u32,)`, one of none `()`"
)]
pub trait Signature: 'static {
    /// What it declares; `None`: anything, compared when it is launched.
    #[doc(hidden)]
    fn declarations() -> Option<SmallVec<[Declaration; 8]>>;
}

macro_rules! tuples {
    ($($parameter:ident)*) => {
        impl<$($parameter: Parameter),*> Signature for ($($parameter,)*) {
            fn declarations() -> Option<SmallVec<[Declaration; 8]>> {
                Some(SmallVec::from_iter([$($parameter::declaration()),*]))
            }
        }
    };
}

/// Calls a macro with nothing, `A`, `A B`, … up to sixteen names.
macro_rules! each_tuple {
    ($each:ident) => {
        $each!();
        $each!(A);
        $each!(A B);
        $each!(A B C);
        $each!(A B C D);
        $each!(A B C D E);
        $each!(A B C D E F);
        $each!(A B C D E F G);
        $each!(A B C D E F G H);
        $each!(A B C D E F G H I);
        $each!(A B C D E F G H I J);
        $each!(A B C D E F G H I J K);
        $each!(A B C D E F G H I J K L);
        $each!(A B C D E F G H I J K L M);
        $each!(A B C D E F G H I J K L M N);
        $each!(A B C D E F G H I J K L M N O);
        $each!(A B C D E F G H I J K L M N O P);
    };
}
pub(crate) use each_tuple;

each_tuple!(tuples);

/// Compares what Rust declares with what the PTX takes; both sides are in the message.
pub(crate) fn compare(declared: &[Declaration], ptx: &KernelSignature) -> Result<(), String> {
    let mut differences = String::new();
    if declared.len() != ptx.parameters.len() {
        _ = write!(differences, "\n  {} parameters here, {} there", declared.len(), ptx.parameters.len());
    }
    for (index, (here, there)) in declared.iter().zip(&ptx.parameters).enumerate() {
        if let Some(reason) = here.mismatch(there, ptx.address_size) {
            _ = write!(differences, "\n  parameter {index} (`{}`): {reason}", there.name);
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let here = declared.iter().map(Declaration::to_string).collect::<Vec<_>>().join(", ");
    Err(format!(
        "kernel `{}` does not take what is declared\n  declared: ({here})\n  PTX:      {ptx}{differences}",
        ptx.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::LoadedPtx;

    /// What is wrong with this signature for a kernel with one parameter; nothing if it fits.
    fn differences<S: Signature>(head: &str, parameter: &str) -> String {
        let text = format!(
            ".version 7.0\n.target sm_50\n{head}\n.visible .entry k(.param {parameter} p) {{ ret; }}"
        );
        let ptx = LoadedPtx::read("k.ptx", &text).expect("PTX");
        let declared = S::declarations().expect("a tuple");
        let compared = compare(&declared, ptx.kernel("k").expect("the kernel"));
        compared
            .err()
            .map(|text| text.lines().last().unwrap_or_default().trim().to_owned())
            .unwrap_or_default()
    }

    #[test]
    fn each_difference_says_what_is_on_either_side() {
        const WIDE: &str = ".address_size 64";
        for (found, expected) in [
            (differences::<(Read<f32>,)>(WIDE, ".u64"), ""),
            (differences::<(Read<f32>,)>(WIDE, ".u64 .ptr .global .align 4"), ""),
            (differences::<(i32,)>(WIDE, ".u32"), ""),
            (differences::<(f32,)>(WIDE, ".b32"), ""),
            (differences::<(u32,)>(WIDE, ".f32"), "parameter 0 (`p`): `f32` there, `u32` here"),
            (differences::<(f64,)>(WIDE, ".s64"), "parameter 0 (`p`): `s64` there, `f64` here"),
            (differences::<(Read<f32>,)>(WIDE, ".f64"), "parameter 0 (`p`): `f64` there, `Read<f32>` here"),
            (
                differences::<(u64,)>(WIDE, ".u32"),
                "parameter 0 (`p`): `u32` of 4 bytes there, `u64` of 8 here",
            ),
            (
                differences::<(Read<f32>,)>("", ".u64"),
                "parameter 0 (`p`): `u64` there, `Read<f32>` here, and addresses of 32 bits: `.address_size 64` is missing",
            ),
            (
                differences::<(Read<f32>,)>("", ".u32"),
                "parameter 0 (`p`): `u32` there, `Read<f32>` here, and addresses of 32 bits: `.address_size 64` is missing",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
