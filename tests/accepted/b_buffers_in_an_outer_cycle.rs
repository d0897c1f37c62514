//! Buffers in a cycle of their own context are leaked by the cycle and freed by the context.

use std::cell::RefCell;
use std::rc::Rc;

use scoped_gpu::{Buffer, Device};

struct Node<'ctx> {
    buffer: Option<Buffer<'ctx, u8>>,
    next: Option<Rc<RefCell<Self>>>,
}

pub fn main() -> scoped_gpu::Result<()> {
    let device = Device::host();
    device.scope(|ctx| {
        let node = Rc::new(RefCell::new(Node { buffer: Some(ctx.buffer(4)?), next: None }));
        node.borrow_mut().next = Some(Rc::clone(&node));
        let len = node.borrow().buffer.as_ref().map(|buffer| buffer.len());
        assert_eq!((len, node.borrow().next.is_some()), (Some(4), true));
        scoped_gpu::ok(())
    })?;
    let statistics = device.memory();
    assert_eq!((statistics.live, statistics.allocated, statistics.freed), (0, 1, 1));
    Ok(())
}
