//! Names the library as programs that were linked against a driver look for it, and keeps its code in memory once it
//! is loaded: a stream's thread may outlive the last `dlclose`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
