//! One context: a host device of its own, the objects that live in it, and the order between its streams.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::backend::host::{HostBackend, HostOptions};
use crate::capture;
use crate::codes::{Answer, Code};
use crate::event::Event;
use crate::handle::Handle;
use crate::memory::Allocations;
use crate::module::{Function, Module};
use crate::process::{self, lock};
use crate::stream::{Operation, Point, Stream};

/// One context.
#[derive(Debug)]
pub struct Context {
    pub serial: u32,
    pub handle: Handle,
    pub device: usize,
    pub flags: u32,
    pub backend: Arc<HostBackend>,
    pub memory: Mutex<Allocations>,
    /// The NULL stream.
    pub null_stream: Arc<Stream>,
    objects: Mutex<HashMap<u32, Object>>,
    last_number: AtomicU32,
}

/// What a handle can name in a context.
#[derive(Debug, Clone)]
pub enum Object {
    Stream(Arc<Stream>),
    Event(Arc<Event>),
    Module(Arc<Module>),
    Function(Arc<Function>),
}

impl Context {
    pub fn new(serial: u32, handle: Handle, device: usize, flags: u32) -> Answer<Self> {
        let owner = process::devices().get(device).ok_or(Code::INVALID_DEVICE)?;
        let backend = Arc::new(HostBackend::new(HostOptions::new().memory_limit(owner.info.memory)));
        Ok(Self {
            serial,
            handle,
            device,
            flags,
            memory: Mutex::new(Allocations::new(owner.info.memory, Arc::clone(&owner.used))),
            null_stream: Stream::new(&backend, serial, true, 0)?,
            backend,
            objects: Mutex::default(),
            last_number: AtomicU32::new(0),
        })
    }

    /// Adds an object; returns its handle.
    pub fn add(&self, object: Object) -> Handle {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.objects).insert(number, object);
        Handle::new(self.serial, number)
    }

    /// The handle of a function that was asked for before.
    pub fn known_function(&self, module: &Arc<Module>, name: &str) -> Option<Handle> {
        let objects = lock(&self.objects);
        let found = objects.iter().find(|(_, object)| match object {
            Object::Function(function) => Arc::ptr_eq(&function.module, module) && *function.name == *name,
            _ => false,
        });
        found.map(|(&number, _)| Handle::new(self.serial, number))
    }

    /// Takes an object out.
    pub fn remove(&self, handle: Handle) {
        lock(&self.objects).remove(&handle.number());
    }

    /// Takes a module's functions out.
    pub fn remove_functions(&self, module: &Arc<Module>) {
        lock(&self.objects).retain(|_, object| match object {
            Object::Function(function) => !Arc::ptr_eq(&function.module, module),
            _ => true,
        });
    }

    fn streams(&self) -> Vec<Arc<Stream>> {
        let objects = lock(&self.objects);
        let streams = objects.values().filter_map(|object| match object {
            Object::Stream(stream) => Some(Arc::clone(stream)),
            _ => None,
        });
        streams.chain([Arc::clone(&self.null_stream)]).collect()
    }

    /// The stream that a call of this context names. One of another context is refused, and one that is captured.
    pub fn stream(&self, handle: Handle) -> Answer<Arc<Stream>> {
        if capture::status(handle) != capture::NONE {
            return Err(Code::NOT_SUPPORTED);
        }
        match handle {
            Handle::NULL | Handle::LEGACY_STREAM | Handle::PER_THREAD_STREAM => {
                Ok(Arc::clone(&self.null_stream))
            }
            handle => match object(handle)? {
                (owner, Object::Stream(stream)) if owner.serial == self.serial => Ok(stream),
                _ => Err(Code::INVALID_HANDLE),
            },
        }
    }

    /// Queues an operation behind what the NULL stream's rule puts before it; returns the point behind it.
    pub fn queue(&self, stream: &Arc<Stream>, operation: Operation) -> Answer<Point> {
        let first = match stream {
            null if Arc::ptr_eq(null, &self.null_stream) => self.streams(),
            stream if stream.blocking => vec![Arc::clone(&self.null_stream)],
            _ => Vec::new(),
        };
        for other in first.iter().filter(|other| other.blocking && !Arc::ptr_eq(other, stream)) {
            let end = other.end();
            if !end.is_reached() {
                stream.push(Operation::Wait(end))?;
            }
        }
        stream.push(operation)
    }

    /// Waits for everything that is queued in this context.
    pub fn synchronize(&self) {
        for stream in self.streams() {
            stream.end().wait();
        }
    }

    /// Lets the work end, and gives everything back. Nothing is queued any more.
    pub fn close(&self) {
        let streams = self.streams();
        streams.iter().for_each(|stream| stream.close());
        streams.iter().for_each(|stream| stream.join());
        lock(&self.objects).clear();
        lock(&self.memory).clear();
    }
}

/// The object with this handle, and its context.
pub fn object(handle: Handle) -> Answer<(Arc<Context>, Object)> {
    let context = process::context_of_serial(handle.serial())?;
    let found = lock(&context.objects).get(&handle.number()).cloned();
    found.map(|object| (context, object)).ok_or(Code::INVALID_HANDLE)
}

macro_rules! objects {
    ($($name:ident: $kind:ident,)+) => {$(
        /// The object of this kind with this handle, and its context.
        pub fn $name(handle: Handle) -> Answer<(Arc<Context>, Arc<$kind>)> {
            match object(handle)? {
                (context, Object::$kind(object)) => Ok((context, object)),
                _ => Err(Code::INVALID_HANDLE),
            }
        }
    )+};
}

objects! {
    stream: Stream,
    event: Event,
    module: Module,
    function: Function,
}
