//! What a scope had to give back because its handle was forgotten: where it was made, how often, how many bytes.

use std::fmt;
use std::io::Write as _;
use std::panic::Location;

/// Asks for leaks on standard error, if it is `1`.
const VARIABLE: &str = "SCOPED_GPU_LEAKS";

/// A sort of handle whose `drop` gives something back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LeakKind {
    /// A [`Buffer`](crate::Buffer).
    Buffer,
    /// An [`Event`](crate::Event).
    Event,
}

/// Handles that were made in one place and forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// Handles of which sort.
    pub kind: LeakKind,
    /// The call that made them.
    pub location: &'static Location<'static>,
    /// How many.
    pub count: u64,
    /// Bytes of device memory of all of them.
    pub bytes: u64,
}

/// The handles that were forgotten in scopes of a device; see [`Device::last_leaks`](crate::Device::last_leaks).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeakReport {
    /// By place, then kind.
    leaks: Vec<Leak>,
}

impl LeakReport {
    /// One entry for each place and kind, in the order of the places.
    #[must_use]
    pub fn leaks(&self) -> &[Leak] {
        &self.leaks
    }

    /// Whether nothing was forgotten.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leaks.is_empty()
    }

    /// Handles of all places and kinds.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.leaks.iter().map(|leak| leak.count).sum()
    }

    /// Bytes of device memory of all of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.leaks.iter().map(|leak| leak.bytes).sum()
    }

    /// Adds a handle.
    pub(crate) fn add(&mut self, kind: LeakKind, location: &'static Location<'static>, bytes: usize) {
        self.merge(Leak { kind, location, count: 1, bytes: bytes as u64 });
    }

    /// Adds those of another report.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.leaks.iter().for_each(|&leak| self.merge(leak));
    }

    fn merge(&mut self, new: Leak) {
        let key =
            |leak: &Leak| (leak.location.file(), leak.location.line(), leak.location.column(), leak.kind);
        match self.leaks.binary_search_by_key(&key(&new), key) {
            Ok(at) => {
                if let Some(known) = self.leaks.get_mut(at) {
                    known.count += new.count;
                    known.bytes += new.bytes;
                }
            }
            Err(at) => self.leaks.insert(at, new),
        }
    }

    /// Writes the report to standard error, if the environment asks for that.
    pub(crate) fn print(&self, device: &str, scope: &'static Location<'static>) {
        if std::env::var_os(VARIABLE).is_some_and(|value| value == "1") {
            // A report that nobody can read is no reason to stop a cleanup.
            let _ =
                writeln!(std::io::stderr(), "scoped-gpu: {device}: the scope at {scope} gave back {self}");
        }
    }
}

fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The number of forgotten handles on the first line, then a line for each place.
impl fmt::Display for LeakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no forgotten handles");
        }
        write!(f, "{} ({})", counted(self.count(), "forgotten handle"), counted(self.bytes(), "byte"))?;
        for Leak { kind, location, count, bytes } in &self.leaks {
            match kind {
                LeakKind::Buffer => {
                    write!(f, "\n  {location}: {}, {}", counted(*count, "buffer"), counted(*bytes, "byte"))?;
                }
                LeakKind::Event => write!(f, "\n  {location}: {}", counted(*count, "event"))?,
            }
        }
        Ok(())
    }
}
