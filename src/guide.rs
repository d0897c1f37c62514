//! The pages of `docs/`, as part of the documentation, so that their code is tested. Nothing else belongs here.

macro_rules! pages {
    ($($name:ident: $file:literal;)+) => {$(
        /// [getting started]: crate::guide::getting_started
        /// [scopes and lifetimes]: crate::guide::scopes
        /// [the host device]: crate::guide::host_device
        /// [writing and compiling kernels]: crate::guide::kernels
        /// [`kernels`]: mod@crate::kernels
        /// [`Error`]: crate::Error
        /// [`Blame`]: crate::Blame
        /// [`FaultKind`]: crate::FaultKind
        /// [`Read`]: crate::Read
        ///
        #[doc = include_str!(concat!("../docs/", $file))]
        pub mod $name {}
    )+};
}

pages! {
    getting_started: "getting-started.md";
    scopes: "scopes.md";
    host_device: "host-device.md";
    kernels: "kernels.md";
    safety: "safety.md";
}
