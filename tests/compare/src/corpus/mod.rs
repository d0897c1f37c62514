//! Whole kernels, as compilers wrote them: how files are read, and what is demanded of results. Which kernels, with which
//! arguments, is in the modules below; `tests/launches` launches the same ones.
//!
//! Between a GPU and the host device a kernel is compared bit for bit unless its code says otherwise: a bare `mul` beside an `add`, which the GPU's
//! assembler may fuse; an approximate instruction; atomics on floats from several blocks, whose order is free.

mod nvcc;
mod own;
mod python;

use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result};

use crate::job::Job;
use crate::values::Type;

/// How far an element of a result may be off.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    Exact,
    /// By so much of the host device's value, or of 1 for a smaller one.
    Within(f64),
    /// So many of all elements may differ at all: where one rounding decides how often a loop runs.
    Few(f64),
}

/// A job and how its outputs are compared: all of them are elements of one type.
#[derive(Clone, Debug)]
pub struct Trial {
    pub name: String,
    pub job: Job,
    pub element: Type,
    pub rule: Rule,
    /// Elements of the first output that are compared; the others hold a clock.
    pub compared: Option<usize>,
}

impl Trial {
    pub fn new(name: impl Into<String>, element: Type, job: Job) -> Self {
        Self { name: name.into(), job, element, rule: Rule::Exact, compared: None }
    }

    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    pub fn first(mut self, elements: usize) -> Self {
        self.compared = Some(elements);
        self
    }
}

/// Type of results.
pub const U8: Type = Type::Bits(8);
/// Type of results.
pub const I32: Type = Type::Bits(32);

/// Every kernel, by the compiler that made it.
pub fn trials(root: &Path) -> Result<[(&'static str, Vec<Trial>); 5]> {
    Ok([
        ("nvcc, checks", nvcc::checks(root)?),
        ("nvcc, common", nvcc::common(root)?),
        ("ptx", own::trials(root)?),
        ("triton", python::triton(root)?),
        ("numba", python::numba(root)?),
    ])
}

/// A module's text. The newest compilers write a PTX version that drivers of CUDA 13.0 do not take, and use nothing of
/// it.
fn module(root: &Path, path: &str) -> Result<Rc<str>> {
    let text = fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
    Ok(Rc::from(text.replacen(".version 9.5", ".version 9.0", 1)))
}
