//! A queued launch, and what becomes of its fault. Running the kernel is the module's affair.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::memory::Memory;
use super::module::Module;
use crate::backend::{AccessRule, LaunchCall};
use crate::fault::{Fault, FaultKind};

/// A launch with everything it needs.
pub(super) struct QueuedLaunch {
    pub(super) module: Arc<dyn Module>,
    pub(super) call: LaunchCall<'static>,
}

/// Carries out a launch. Its fault names the call that launched it, and is contained if the accesses were checked.
pub(super) fn run(launch: &QueuedLaunch, memory: &mut Memory) -> Result<(), Box<Fault>> {
    let QueuedLaunch { module, call } = launch;
    // Memory is bytes: whatever a panic leaves behind is a state that a kernel could have left behind.
    let run = AssertUnwindSafe(|| Arc::clone(module).run(call, memory));
    let result = catch_unwind(run).unwrap_or_else(|payload| {
        let kind = FaultKind::Internal { message: format!("the interpreter panicked: {}", text(&*payload)) };
        Err(Box::new(Fault::new(kind, module.name(), &**call.kernel)))
    });
    result.map_err(|mut fault| {
        fault.launched_at = Some(call.location);
        fault.contained = call.access == AccessRule::Checked;
        fault
    })
}

/// What a panic said.
fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
