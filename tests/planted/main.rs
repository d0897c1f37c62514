//! Twenty-five bugs that hardware may let pass, planted in small kernels, five of each kind. Strict mode names each:
//! what, which line of PTX, which thread, and for races the other access too. Beside each stands the form that is
//! right, which strict mode passes; and without strict mode a bug costs at most an error.
//!
//! In a kernel the faulty line ends with `// BUG`, a race's earlier access with `// OTHER`.

mod barriers;
mod case;
mod lanes;
mod others;
mod races;
mod uninitialised;

use case::Case;
use libtest_mimic::{Failed, Trial};

const KINDS: [(&str, [Case; 5]); 5] = [
    ("uninitialised", uninitialised::CASES),
    ("races", races::CASES),
    ("barriers", barriers::CASES),
    ("lanes", lanes::CASES),
    ("others", others::CASES),
];

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = Vec::new();
    for (kind, cases) in KINDS {
        for case in cases {
            let name = format!("{kind}::{}", case.name);
            let trial = |what: &str, run: fn(&Case) -> Result<(), String>| {
                Trial::test(format!("{name}::{what}"), move || run(&case).map_err(Failed::from))
            };
            trials.push(trial("is_found", case::is_found));
            trials.push(trial("corrected_is_clean", case::corrected_is_clean));
            trials.push(trial("without_strict_mode", case::without_strict_mode));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
