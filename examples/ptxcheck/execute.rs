//! Running a kernel and printing what came of it.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use scoped_gpu::{Device, Dynamic, DynamicArgument, Launch};

use crate::Options;
use crate::array::prepare;

/// Runs the kernel strictly and prints results and statistics. The kernel's own mistake comes back as the library's
/// error, anything else as another.
pub fn execute(name: &str, text: &str, kernel: &str, options: &Options) -> Result<()> {
    Device::host().scope(|ctx| {
        let module = ctx.module_named(name, text)?;
        let entry = module.kernel::<Dynamic>(kernel)?;
        let parameters: Vec<String> = module
            .signatures()
            .filter(|signature| signature.name == kernel)
            .flat_map(|signature| signature.parameters.iter().map(|parameter| parameter.name.clone()))
            .collect();
        let saves = options.save.iter().map(|save| target(save, &parameters));
        let saves: Vec<(usize, &Path)> = saves.collect::<Result<_>>()?;
        let mut prepared = options
            .arguments
            .iter()
            .enumerate()
            .map(|(index, wanted)| prepare(ctx, wanted).with_context(|| format!("argument {index}")))
            .collect::<Result<Vec<_>>>()?;

        let mut launch = Launch::grid(options.grid, options.block).shared_bytes(options.shared).strict();
        if let Some(steps) = options.max_steps {
            launch = launch.max_steps(steps);
        }
        let arguments: Vec<DynamicArgument<'_, '_>> =
            prepared.iter_mut().map(|argument| argument.argument()).collect();
        let statistics = ctx.launch_counted(&entry, launch, arguments)?;

        println!("kernel {kernel}: grid {}, block {}: no fault", options.grid, options.block);
        for ((index, argument), parameter) in prepared.iter().enumerate().zip(&parameters) {
            if let Some(summary) = argument.summary()? {
                println!("\n  argument {index} `{parameter}`: {summary}");
            }
        }
        println!("\n{statistics}");
        for (index, path) in saves {
            let argument = prepared.get(index).with_context(|| format!("there is no argument {index}"))?;
            argument
                .save(path)
                .with_context(|| format!("cannot save argument {index} to {}", path.display()))?;
        }
        Ok(())
    })
}

/// Which argument goes to which file.
fn target<'a>(save: &'a str, parameters: &[String]) -> Result<(usize, &'a Path)> {
    let (name, path) = save.split_once('=').context("`--save` takes NAME=FILE, such as `1=y.npy`")?;
    let index = match name.parse() {
        Ok(index) => Some(index),
        Err(_) => parameters.iter().position(|parameter| parameter == name),
    };
    match index {
        Some(index) if index < parameters.len() => Ok((index, Path::new(path))),
        _ => bail!(
            "`--save {save}`: parameters are {} (or 0 to {})",
            parameters.join(", "),
            parameters.len().saturating_sub(1)
        ),
    }
}
