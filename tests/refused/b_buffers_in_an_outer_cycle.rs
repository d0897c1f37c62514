//! A buffer cannot be leaked into a reference-counted cell that is older than its context.

use std::cell::RefCell;
use std::rc::Rc;

use scoped_gpu::{Buffer, Device};

struct Node<'ctx> {
    buffer: Option<Buffer<'ctx, u8>>,
    next: Option<Rc<RefCell<Self>>>,
}

fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    let node = Rc::new(RefCell::new(Node { buffer: None, next: None }));
    device.scope(|ctx| {
        node.borrow_mut().buffer = Some(ctx.buffer(4)?);
        node.borrow_mut().next = Some(Rc::clone(&node));
        scoped_gpu::ok(())
    })?;
    assert_eq!(node.borrow().buffer.as_ref().map(|buffer| buffer.len()), Some(4));
    Ok(())
}
