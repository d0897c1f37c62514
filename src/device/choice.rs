//! Which devices there are and which one is the default. Opening them is the backends' work.

use std::sync::{Arc, OnceLock};

use super::{Device, Shared};
#[cfg(feature = "cuda")]
use crate::backend::cuda::CudaBackend;
use crate::backend::host::{HostBackend, HostOptions};
use crate::backend::{DeviceInfo, Ownership};
#[cfg(feature = "cuda")]
use crate::error::AtCaller;
use crate::error::{Error, ErrorKind};

/// Names the default device: `host` or `cuda:N`.
const VARIABLE: &str = "SCOPED_GPU_DEVICE";

impl Device {
    /// The host device: runs PTX on this machine's processor and checks every access. It is always there.
    #[must_use]
    pub fn host() -> Self {
        Self::host_with(HostOptions::new())
    }

    /// The host device with options.
    #[must_use]
    pub fn host_with(options: HostOptions) -> Self {
        Self::from_shared(Arc::new(Shared::new(Box::new(HostBackend::new(options)))))
    }

    /// The CUDA device number `ordinal`, with a private context.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceUnavailable`], which says whether the feature, the driver or the device is missing.
    #[track_caller]
    #[doc(alias = "cudaSetDevice")]
    pub fn cuda(ordinal: u32) -> Result<Self, Error> {
        Self::open_cuda(ordinal, Ownership::Private)
    }

    /// The CUDA device number `ordinal`, with its *primary* context, which other libraries of the process use too
    /// (cuBLAS, cuFFT, the CUDA runtime).
    ///
    /// Their handles and this crate's work side by side. Anybody can reset a primary context: after that, calls of an
    /// open scope answer [`ErrorKind::ContextLost`], and what it held is gone; the next scope works again.
    /// [`reset`](Self::reset) answers an error on such a device, since it would harm the others:
    /// [`reset_primary`](Self::reset_primary) is `unsafe`.
    ///
    /// While somebody captures a graph in this context, the driver may forbid a scope's calls, on other threads too if the
    /// capture is in the global mode. They are made again in the relaxed mode of their thread, so the scope goes on; the
    /// capture may be invalid then, which its end says. A capture in `CU_STREAM_CAPTURE_MODE_RELAXED` forbids nothing.
    ///
    /// # Errors
    /// As for [`cuda`](Self::cuda).
    #[track_caller]
    #[doc(alias = "cuDevicePrimaryCtxRetain")]
    pub fn cuda_primary(ordinal: u32) -> Result<Self, Error> {
        Self::open_cuda(ordinal, Ownership::Primary)
    }

    #[cfg(feature = "cuda")]
    #[track_caller]
    fn open_cuda(ordinal: u32, ownership: Ownership) -> Result<Self, Error> {
        let backend = CudaBackend::open(ordinal, ownership).at_caller()?;
        Ok(Self::from_shared(Arc::new(Shared::new(Box::new(backend)))))
    }

    #[cfg(not(feature = "cuda"))]
    #[track_caller]
    fn open_cuda(ordinal: u32, _: Ownership) -> Result<Self, Error> {
        Err(Error::new(ErrorKind::DeviceUnavailable {
            message: format!(
                "cuda:{ordinal}: scoped-gpu was built without its feature `cuda`; Device::host() runs the same PTX"
            ),
        }))
    }

    /// The process-wide default device, on which [`with`](Self::with) opens its scopes.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceUnavailable`] if the device that `SCOPED_GPU_DEVICE` names is not there.
    #[track_caller]
    pub fn default_device() -> Result<&'static Self, Error> {
        static DEFAULT: OnceLock<Result<Device, Error>> = OnceLock::new();
        let device = DEFAULT.get_or_init(|| match std::env::var(VARIABLE) {
            // an empty variable is how many set none
            Ok(name) if !name.is_empty() => Device::named(&name),
            Ok(_) | Err(std::env::VarError::NotPresent) => {
                Ok(Device::cuda(0).unwrap_or_else(|_| Device::host()))
            }
            Err(std::env::VarError::NotUnicode(name)) => Device::named(&name.to_string_lossy()),
        });
        // No closure here: an error's location is the caller's.
        match device {
            Ok(device) => Ok(device),
            Err(error) => {
                Err(Error::new(ErrorKind::DeviceUnavailable { message: format!("{VARIABLE}: {error}") }))
            }
        }
    }

    /// Every device that is there, opened; the host device last. A GPU that does not open is left out:
    /// [`cuda`](Self::cuda) says why.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = (0..cuda_devices()).filter_map(|n| Self::cuda(n).ok()).collect();
        all.push(Self::host());
        all
    }

    /// The devices that `wanted` accepts, at most `limit` of them, in the order of [`all`](Self::all).
    ///
    /// # Errors
    /// [`ErrorKind::DeviceUnavailable`] when there is none.
    #[track_caller]
    pub fn select(limit: usize, wanted: impl Fn(&DeviceInfo) -> bool) -> Result<Vec<Self>, Error> {
        let all = Self::all();
        let asked = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let chosen: Vec<_> = all.into_iter().filter(|device| wanted(device.info())).take(limit).collect();
        if chosen.is_empty() {
            return Err(Error::new(ErrorKind::DeviceUnavailable {
                message: format!("no device fits the selection; asked: {asked}"),
            }));
        }
        Ok(chosen)
    }

    /// The device that a name like `host` or `cuda:1` means.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceUnavailable`] for a name that is none, or a device that is not there.
    #[track_caller]
    pub fn named(name: &str) -> Result<Self, Error> {
        match name.strip_prefix("cuda:").map(str::parse) {
            Some(Ok(ordinal)) => Self::cuda(ordinal),
            None if name == "host" => Ok(Self::host()),
            _ => Err(Error::new(ErrorKind::DeviceUnavailable {
                message: format!("no device is called `{name}`; names are `host` and `cuda:N` (N = 0, 1, …)"),
            })),
        }
    }
}

/// How many CUDA devices a driver finds; none without the feature.
fn cuda_devices() -> u32 {
    #[cfg(feature = "cuda")]
    return crate::backend::cuda::count().unwrap_or(0);
    #[cfg(not(feature = "cuda"))]
    0
}
