//! Any bytes: reading, lowering and verifying ends with a module or an error that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scoped_gpu::ptx::LoadedPtx;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Err(message) = LoadedPtx::read("fuzz.ptx", &text) {
        assert!(message.starts_with("error: "), "{message}");
    }
});
