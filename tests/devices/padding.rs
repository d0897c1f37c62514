//! A pitched array with its padding, which no copy and no fill of the library shows: through a kernel that is given
//! the array as its bytes. For chapters that hold padding to what it was.

use scoped_gpu::{Context, Element, Error, Launch, Module, Pitched, Read, Write, zeros};

/// The kernels for it.
pub struct Padding<'ctx> {
    fill: Module<'ctx>,
    copy: Module<'ctx>,
}

impl<'ctx> Padding<'ctx> {
    pub fn new(ctx: &Context<'ctx>) -> Result<Self, Error> {
        Ok(Self {
            fill: ctx.module_named("fill.ptx", include_str!("../../ptx/fill.ptx"))?,
            copy: ctx.module_named("copy.ptx", include_str!("../../ptx/copy.ptx"))?,
        })
    }

    /// Bytes from the array's first element to its last, padding between included.
    fn span<T: Element>(image: &Pitched<'_, '_, T>) -> usize {
        let rows = image.height() * image.depth();
        if image.is_empty() { 0 } else { (rows - 1) * image.pitch() + image.width() * size_of::<T>() }
    }

    /// Sets every byte, elements and padding.
    pub fn paint<T: Element>(
        &self,
        ctx: &Context<'ctx>,
        image: &mut Pitched<'_, 'ctx, T>,
        value: u8,
    ) -> Result<(), Error> {
        let bytes = Self::span(image);
        let fill = self.fill.kernel::<(Write<T>, u64, u8)>("fill_u8")?;
        ctx.launch(&fill, Launch::cover(bytes), (image, bytes as u64, value))
    }

    /// Every byte, elements and padding.
    pub fn bytes<T: Element>(
        &self,
        ctx: &Context<'ctx>,
        image: &Pitched<'_, 'ctx, T>,
    ) -> Result<Vec<u8>, Error> {
        let bytes = Self::span(image);
        let copy = self.copy.kernel::<(Read<T>, u64, Write<u8>, u64, u64, u64)>("copy_pitched")?;
        ctx.alloc((zeros::<u8>(bytes),), |(mut out,)| {
            let n = bytes as u64;
            ctx.launch(&copy, Launch::cover(bytes), (image, n, &mut out, n, n, 1))?;
            out.to_vec()
        })
    }
}
