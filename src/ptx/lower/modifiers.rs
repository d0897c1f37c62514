//! The words after an opcode, taken as a set: each question marks the words it understood, and what
//! is left at the end makes the instruction unsupported. Position matters only among types.

use smallvec::SmallVec;

use super::{Lowered, Stop};
use crate::ptx::ast;
use crate::ptx::ir::{
    Accuracy, CacheOp, FloatModifiers, MemoryOrder, Ordering, Rounding, Scope, Space, Type,
};

/// The modifiers of one instruction, with a mark for each that was understood.
pub(super) struct Modifiers<'a, 'src> {
    words: &'a [ast::Dotted<'src>],
    taken: u64,
}

impl<'a, 'src> Modifiers<'a, 'src> {
    pub fn new(modifiers: &'a ast::Modifiers<'src>) -> Lowered<Self> {
        let words = modifiers.0.as_slice();
        // no instruction has that many; the marks are bits of one word
        if words.len() > 64 {
            return Err(Stop::Unsupported);
        }
        Ok(Self { words, taken: 0 })
    }

    fn free(&self, index: usize) -> bool {
        self.taken & (1 << index) == 0
    }

    /// Takes `word` if it is there.
    pub fn flag(&mut self, word: &str) -> bool {
        let found = (0..self.words.len()).find(|&i| self.free(i) && self.words[i].text == word);
        if let Some(index) = found {
            self.taken |= 1 << index;
        }
        found.is_some()
    }

    /// Is `word` there, taken or not?
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w.text == word)
    }

    /// Takes the first word, in the order of the text, that `meaning` knows.
    pub fn take<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        for index in 0..self.words.len() {
            if self.free(index)
                && let Some(value) = meaning(self.words[index].text)
            {
                self.taken |= 1 << index;
                return Some(value);
            }
        }
        None
    }

    /// Takes the first word that is in the table.
    pub fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take(|word| table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
    }

    /// As [`one_of`](Self::one_of), where the instruction cannot do without.
    pub fn needed<T: Copy>(&mut self, table: &[(&str, T)]) -> Lowered<T> {
        self.one_of(table).ok_or(Stop::Unsupported)
    }

    /// Takes the first type.
    pub fn ty(&mut self) -> Lowered<Type> {
        self.take(Type::from_name).ok_or(Stop::Unsupported)
    }

    /// Takes all types, in the order of the text.
    pub fn types(&mut self) -> SmallVec<[Type; 4]> {
        std::iter::from_fn(|| self.take(Type::from_name)).collect()
    }

    /// Takes every word that `unwanted` says has no effect.
    pub fn ignore(&mut self, unwanted: impl Fn(&str) -> bool) {
        while self.take(|word| unwanted(word).then_some(())).is_some() {}
    }

    /// `.rn .rz .rm .rp .rna`
    pub fn rounding(&mut self) -> Option<Rounding> {
        self.one_of(&[
            ("rn", Rounding::NearestEven),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
            ("rna", Rounding::NearestAway),
        ])
    }

    /// `.rni .rzi .rmi .rpi`
    pub fn integer_rounding(&mut self) -> Option<Rounding> {
        self.one_of(&[
            ("rni", Rounding::NearestEven),
            ("rzi", Rounding::Zero),
            ("rmi", Rounding::Down),
            ("rpi", Rounding::Up),
        ])
    }

    /// A rounding, `.approx`, `.full`, or nothing.
    pub fn accuracy(&mut self) -> Accuracy {
        if self.flag("approx") {
            Accuracy::Approx
        } else if self.flag("full") {
            Accuracy::Full
        } else {
            self.rounding().map_or(Accuracy::Default, Accuracy::Rounded)
        }
    }

    /// The modifiers of floating-point arithmetic; `narrow` is for the caller.
    pub fn float(&mut self) -> FloatModifiers {
        let xor_sign = self.flag("xorsign");
        let abs = self.flag("abs");
        FloatModifiers {
            flush: self.flag("ftz"),
            saturate: self.flag("sat"),
            relu: self.flag("relu"),
            nan: self.flag("NaN"),
            xor_sign_abs: xor_sign && abs,
            abs: abs && !xor_sign,
            narrow: None,
        }
    }

    /// The state space, generic if none is given.
    pub fn space(&mut self) -> Space {
        self.take(space).unwrap_or(Space::Generic)
    }

    /// Order and scope of an access. `default` is what no word means.
    pub fn ordering(&mut self, default: MemoryOrder) -> Ordering {
        let order = self.one_of(&[
            ("weak", MemoryOrder::Weak),
            ("volatile", MemoryOrder::Volatile),
            ("mmio", MemoryOrder::Mmio),
            ("relaxed", MemoryOrder::Relaxed),
            ("acquire", MemoryOrder::Acquire),
            ("release", MemoryOrder::Release),
            ("acq_rel", MemoryOrder::AcquireRelease),
            ("sc", MemoryOrder::SequentiallyConsistent),
        ]);
        // `.mmio` is written together with `.relaxed`, in either order
        let order = match order {
            Some(MemoryOrder::Mmio) => {
                self.flag("relaxed");
                order
            }
            Some(MemoryOrder::Relaxed) if self.flag("mmio") => Some(MemoryOrder::Mmio),
            _ => order,
        };
        Ordering { order: order.unwrap_or(default), scope: self.scope() }
    }

    /// `.cta .cluster .gpu .sys`
    pub fn scope(&mut self) -> Option<Scope> {
        self.one_of(&[
            ("cta", Scope::Cta),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("sys", Scope::System),
        ])
    }

    /// `.ca .cg .cs .lu .cv .wb .wt`
    pub fn cache(&mut self) -> CacheOp {
        self.one_of(&[
            ("ca", CacheOp::Ca),
            ("cg", CacheOp::Cg),
            ("cs", CacheOp::Cs),
            ("lu", CacheOp::Lu),
            ("cv", CacheOp::Cv),
            ("wb", CacheOp::Wb),
            ("wt", CacheOp::Wt),
        ])
        .unwrap_or(CacheOp::Default)
    }

    /// Drops eviction priorities and prefetch sizes. True if a cache policy follows the operands.
    pub fn cache_hints(&mut self) -> bool {
        let policy = self.has("L2::cache_hint");
        self.ignore(|word| word.starts_with("L1::") || word.starts_with("L2::"));
        policy
    }

    /// `.v2 .v4 .v8`; 1 if none.
    pub fn vector(&mut self) -> usize {
        self.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }

    /// The instruction is known only if nothing is left.
    pub fn finish(&self) -> Lowered<()> {
        match (0..self.words.len()).any(|index| self.free(index)) {
            true => Err(Stop::Unsupported),
            false => Ok(()),
        }
    }
}

/// The state space a word names.
pub(super) fn space(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}
