//! `ptxas`, if this machine has it: the path in `SCOPED_GPU_PTXAS`, else the one in `PATH`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where the assembler is; says so once if there is none.
pub fn find() -> Option<PathBuf> {
    let named = std::env::var_os("SCOPED_GPU_PTXAS").map(PathBuf::from);
    let path = named.unwrap_or_else(|| PathBuf::from("ptxas"));
    let runs = Command::new(&path).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match runs {
        Ok(status) if status.success() => Some(path),
        _ => {
            println!("skipped: no ptxas (set SCOPED_GPU_PTXAS or put it in PATH)");
            None
        }
    }
}

/// Assembles `text`, optimised as a driver would.
///
/// # Errors
/// What the assembler says. A version of PTX that it is too old for is none.
pub fn assemble(ptxas: &PathBuf, text: &str, architecture: &str) -> Result<(), String> {
    let mut command = Command::new(ptxas);
    command.args(["-o", "/dev/null", "-arch", architecture, "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    // the assembler may stop reading at its first error
    let _ = writer.join();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if said.contains("Unsupported .version") {
        println!("skipped: this ptxas is older than the PTX");
        return Ok(());
    }
    if output.status.success() { Ok(()) } else { Err(said) }
}
