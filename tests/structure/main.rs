//! The shape of the sources: layers, where `unsafe` stands, what is never written. Each test reads `src/` as text.

mod acceptance;
mod closing;
mod habits;
mod layers;
mod pages;
mod source;
mod unsafe_code;
