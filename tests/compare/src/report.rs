//! What the comparison found: figures for each case, examples in words, and the table that ends a run.

use std::collections::BTreeMap;

/// Differences that are printed for one case.
const EXAMPLES: usize = 6;

/// How one value of the GPU relates to the host device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// Both are NaN, with other bits.
    Nan,
    /// Other bits, within the operation's tolerance.
    Within,
    Different,
}

/// Figures of one case or of several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub cases: usize,
    /// Cases that a device did not run.
    pub failed: usize,
    pub values: usize,
    pub nan: usize,
    pub within: usize,
    pub different: usize,
    /// Values of the GPU that contradict the table.
    pub wrong: usize,
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.failed += other.failed;
        self.values += other.values;
        self.nan += other.nan;
        self.within += other.within;
        self.different += other.different;
        self.wrong += other.wrong;
    }
}

/// Figures of one case, and its first differences.
#[derive(Debug, Default)]
pub struct Outcome {
    pub figures: Figures,
    examples: Vec<String>,
    left_out: usize,
}

impl Outcome {
    /// Counts a value; `words` says what it is, if it is worth saying.
    pub fn count(&mut self, verdict: Verdict, words: impl FnOnce() -> String) {
        self.figures.values += 1;
        match verdict {
            Verdict::Same => return,
            Verdict::Nan => self.figures.nan += 1,
            Verdict::Within => self.figures.within += 1,
            Verdict::Different => self.figures.different += 1,
        }
        let seen = match verdict {
            Verdict::Different => self.figures.different,
            // Two of each are enough to see what they are.
            _ => (self.figures.nan + self.figures.within) * EXAMPLES / 2,
        };
        self.example(seen <= EXAMPLES, || format!("{verdict:?}: {}", words()));
    }

    /// Counts a value of the GPU that is not what the table says.
    pub fn contradicts(&mut self, words: impl FnOnce() -> String) {
        self.figures.wrong += 1;
        self.example(self.figures.wrong <= EXAMPLES, || format!("against the table: {}", words()));
    }

    /// Counts a case that a device did not run.
    pub fn fail(&mut self, message: String) {
        self.figures.failed += 1;
        self.examples.push(message);
    }

    fn example(&mut self, shown: bool, words: impl FnOnce() -> String) {
        if shown {
            self.examples.push(words());
        } else {
            self.left_out += 1;
        }
    }
}

/// All cases of a run, by group.
#[derive(Debug, Default)]
pub struct Report {
    groups: BTreeMap<String, Figures>,
}

impl Report {
    /// Adds a case, and prints it if there is something to say.
    pub fn add(&mut self, group: &str, case: &str, mut outcome: Outcome) {
        outcome.figures.cases = 1;
        self.groups.entry(group.to_owned()).or_default().add(outcome.figures);
        if outcome.examples.is_empty() {
            return;
        }
        let Figures { values, nan, within, different, .. } = outcome.figures;
        println!("{group} · {case}: {different} of {values} differ, {within} within tolerance, {nan} NaNs");
        for example in &outcome.examples {
            println!("    {example}");
        }
        if outcome.left_out > 0 {
            println!("    and {} more", outcome.left_out);
        }
    }

    /// Prints the table. `true` if nothing differs that must not.
    pub fn finish(&self) -> bool {
        let mut all = Figures::default();
        self.groups.values().for_each(|figures| all.add(*figures));
        println!(
            "\n{:<28}{:>7}{:>8}{:>10}{:>10}{:>10}{:>8}{:>8}",
            "", "cases", "failed", "values", "differ", "within", "NaNs", "table"
        );
        let row = |name: &str, f: &Figures| {
            let Figures { cases, failed, values, nan, within, different, wrong } = f;
            println!(
                "{name:<28}{cases:>7}{failed:>8}{values:>10}{different:>10}{within:>10}{nan:>8}{wrong:>8}"
            );
        };
        self.groups.iter().for_each(|(name, figures)| row(name, figures));
        row("all", &all);
        all.failed + all.different + all.wrong == 0
    }
}
