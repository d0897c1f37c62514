//! One job on both devices.

use anyhow::Result;
use scoped_gpu::Device;

use crate::driver::Gpu;
use crate::host;
use crate::job::Job;
use crate::report::Outcome;

/// What the host device and the GPU wrote; `None` where one of them failed, which `outcome` then says.
pub fn run(
    outcome: &mut Outcome,
    host: &Device,
    gpu: &mut Gpu,
    job: &Job,
) -> Result<Option<[Vec<Vec<u8>>; 2]>> {
    let on_host = match host::run(host, job) {
        Ok(outputs) => outputs,
        Err(error) => {
            outcome.fail(format!("host device: {error}"));
            return Ok(None);
        }
    };
    match gpu.run(job) {
        Ok(on_gpu) => Ok(Some([on_host, on_gpu])),
        Err(failure) => {
            outcome.fail(format!("GPU: {failure}"));
            if failure.ends_context() {
                gpu.recover()?;
            }
            Ok(None)
        }
    }
}
