//! The crate's one error: a kind, and the caller's line. Messages are written here so that they can be read together.

use std::fmt;
use std::panic::Location;

use crate::fault::Fault;

/// A `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `Ok(value)` with the crate's own [`Error`], for closures in which inference cannot name it (like `anyhow::Ok`).
///
/// # Errors
/// None.
pub fn ok<T>(value: T) -> Result<T> {
    Ok(value)
}

/// What went wrong, and which call of yours caused it.
///
/// One pointer wide, `Send + Sync + 'static`, so it travels through `?` into `anyhow::Error` or a boxed error.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    location: &'static Location<'static>,
    /// Which of several devices, where a call concerns several.
    device: Option<Box<str>>,
    also: Vec<Error>,
}

/// The kinds of [`Error`]. More may come; match with a `_` arm.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A kernel made a mistake; the [`Fault`] says which. Returned once, by the first wait after the launch.
    Fault(Box<Fault>),
    /// An earlier fault ended this context; nothing runs in it any more. A fault of a checked launch does not end one.
    ///
    /// ```
    /// use scoped_gpu::{Device, ErrorKind, Launch, ReadWrite, kernels};
    /// let device = Device::host();
    /// let result: anyhow::Result<()> = device.scope(|ctx| {
    ///     let scale = ctx.module(kernels::SCALE)?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
    ///     let mut x = ctx.buffer::<f32>(1)?;
    ///     // SAFETY: none, on purpose: it writes 8 elements of 1. The host device recognises that.
    ///     unsafe { ctx.launch_unchecked(&scale, Launch::cover(8), (&mut x, 2.0, 8)) }?;
    ///     let fault = ctx.synchronize().unwrap_err(); // returned once, as the fault of its launch
    ///     let later = x.to_vec().unwrap_err();
    ///     assert!(matches!(later.kind(), ErrorKind::Poisoned { origin } if origin.contains("scale")));
    ///     Err(fault.into())
    /// });
    /// assert!(result.is_err());
    /// device.scope(|ctx| ctx.buffer::<f32>(1)?.to_vec())?; // the scope's end made the device work again
    /// # scoped_gpu::ok(())
    /// ```
    Poisoned {
        /// The message of the fault that did it.
        origin: String,
    },
    /// The context was lost to somebody else's reset.
    ContextLost,
    /// The device has not enough memory. Not sticky: after freeing, the same call may succeed.
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free.
        free: u64,
        /// Bytes the device has.
        total: u64,
        /// Bytes that this `Device` holds in live allocations.
        live: u64,
    },
    /// The machine has not enough memory for page-locked host memory.
    OutOfPinnedMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes of page-locked memory that this device's context already holds.
        held: u64,
    },
    /// A size in bytes or elements cannot be represented.
    SizeOverflow {
        /// The product that overflows.
        what: String,
    },
    /// Lengths, extents or ranges do not fit each other.
    Shape {
        /// What was asked, with both numbers.
        message: String,
    },
    /// A launch that the device does not accept: grid, block, shared memory.
    Launch {
        /// Kernel, the value and the limit.
        message: String,
    },
    /// PTX that cannot be read, or that no assembler would take.
    Ptx {
        /// The rendered diagnostic, with the line of PTX.
        message: String,
    },
    /// The module has no kernel of that name.
    KernelNotFound {
        /// The name asked for.
        name: String,
        /// The module's name.
        module: String,
        /// The kernels that are there.
        available: Vec<String>,
    },
    /// A kernel's declared signature differs from its `.param` list.
    Signature {
        /// Both sides.
        message: String,
    },
    /// The device is not there.
    DeviceUnavailable {
        /// Which, and why.
        message: String,
    },
    /// The device cannot do this.
    NotSupported {
        /// What, and what to do instead.
        message: String,
    },
    /// Something of another context or stream scope was given.
    Foreign {
        /// What was given to whom.
        message: String,
    },
    /// The driver answered an error of its own.
    Driver {
        /// The driver function.
        call: &'static str,
        /// Its integer result.
        code: i32,
        /// The code's name, or `unknown`.
        name: String,
    },
    /// Cleanup after a closure that succeeded failed.
    Cleanup {
        /// The first step that failed.
        message: String,
    },
}

impl Error {
    /// An error of this kind, caused by the caller's caller.
    #[track_caller]
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self::at(kind, Location::caller())
    }

    /// An error caused by the call at `location`, or, as a fault, by its launch.
    pub(crate) fn at(mut kind: ErrorKind, location: &'static Location<'static>) -> Self {
        let (mut caused_by, mut also) = (location, Vec::new());
        if let ErrorKind::Fault(fault) = &mut kind {
            caused_by = fault.launched_at.unwrap_or(location);
            let later = std::mem::take(&mut fault.later).into_iter();
            also.extend(later.map(|later| Self::at(ErrorKind::Fault(Box::new(later)), location)));
        }
        Self(Box::new(Inner { kind, location: caused_by, device: None, also }))
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The call that caused it; for a fault, the launch.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }

    /// Later errors of the same wait or cleanup, in the order in which they came: faults of later launches (15 at most),
    /// and what else was met on the way.
    #[must_use]
    pub fn also(&self) -> &[Error] {
        &self.0.also
    }

    /// The kernel's fault, if that is what it is.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self.kind() {
            ErrorKind::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The device, such as `cuda:1`, where the call concerned several ([`Device::scope_all`](crate::Device::scope_all)).
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.0.device.as_deref()
    }

    /// The same error, of one device among several.
    pub(crate) fn on_device(mut self, id: &str) -> Self {
        self.0.device.get_or_insert_with(|| id.into());
        self
    }

    /// The same error, caused by the call at `location`; a fault stays with its launch.
    pub(crate) fn moved_to(mut self, location: &'static Location<'static>) -> Self {
        if self.fault().is_none() {
            self.0.location = location;
        }
        self
    }

    pub(crate) fn push(&mut self, mut later: Error) {
        let more = std::mem::take(&mut later.0.also);
        self.0.also.push(later);
        self.0.also.extend(more);
    }

    /// A copy to keep while the original goes to the caller.
    pub(crate) fn duplicate(&self) -> Self {
        Self(Box::new(Inner {
            kind: self.0.kind.clone(),
            location: self.0.location,
            device: self.0.device.clone(),
            also: self.0.also.iter().map(Error::duplicate).collect(),
        }))
    }
}

/// Turns what a backend or a check answered into a result that names the caller's line.
///
/// `map_err(Error::new)` would name the line of the standard library that calls `Error::new`, a closure its own.
pub(crate) trait AtCaller<T> {
    /// The value, or an error caused by the caller's caller.
    #[track_caller]
    fn at_caller(self) -> Result<T>;
}

impl<T> AtCaller<T> for Result<T, ErrorKind> {
    #[track_caller]
    fn at_caller(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(kind) => Err(Error::new(kind)),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => write!(f, "{fault}"),
            Self::Poisoned { origin } => write!(
                f,
                "this context was ended by an earlier fault and answers nothing more; it was: {origin}"
            ),
            Self::ContextLost => f.write_str("the context was lost: somebody else reset the device"),
            Self::OutOfMemory { asked, free, total, live } => write!(
                f,
                "out of device memory: asked for {asked} bytes, {free} of {total} are free, \
                 this device's live allocations hold {live}"
            ),
            Self::OutOfPinnedMemory { asked, held } => {
                write!(
                    f,
                    "out of page-locked host memory: asked for {asked} bytes beside {held} that are held"
                )
            }
            Self::SizeOverflow { what } => write!(f, "size overflow: {what} does not fit the address space"),
            Self::Shape { message }
            | Self::Launch { message }
            | Self::Ptx { message }
            | Self::Signature { message }
            | Self::DeviceUnavailable { message }
            | Self::NotSupported { message }
            | Self::Foreign { message } => f.write_str(message),
            Self::KernelNotFound { name, module, available } => {
                write!(f, "module `{module}` has no kernel `{name}`; ")?;
                match available.as_slice() {
                    [] => f.write_str("it has no kernels at all"),
                    names => write!(f, "it has {}", quoted(names)),
                }
            }
            Self::Driver { call, code, name } => write!(f, "{call} answered {code} ({name})"),
            Self::Cleanup { message } => write!(f, "cleanup of the scope failed: {message}"),
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(device) = self.device() {
            write!(f, "{device}: ")?;
        }
        write!(f, "{}", self.kind())?;
        for later in self.also() {
            write!(f, "\nalso: ")?;
            if let Some(device) = later.device() {
                write!(f, "{device}: ")?;
            }
            write!(f, "{}", later.kind())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What `fn main() -> Result<(), Error>` and `unwrap` print: for people, with the caller's line.
        write!(f, "{self}\n  at {}", self.location())
    }
}

impl std::error::Error for Error {}
