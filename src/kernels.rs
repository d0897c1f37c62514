//! The kernels that the crate ships, as PTX text. What they compute is written in CUDA C in `ptx/`, beside each file.

/// `add`: c = a + b.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `add` | `(Read<f32>, Read<f32>, Write<f32>, u32)` | a, b, c, number of elements | [`cover(n)`](crate::Launch::cover) |
///
/// ```
/// use scoped_gpu::{Device, Launch, Read, Write, kernels, linear, zeros};
/// let (a, b) = ([1.0f32, 2.0], [10.0, 20.0]);
/// Device::host().scope(|ctx| {
///     let add = ctx.module(kernels::ADD)?.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32)>("add")?;
///     ctx.alloc((linear(&a), linear(&b), zeros::<f32>(2)), |(a, b, mut c)| {
///         ctx.launch(&add, Launch::cover(2), (&a, &b, &mut c, 2))?;
///         assert_eq!(c.to_vec()?, [11.0, 22.0]);
///         scoped_gpu::ok(())
///     })
/// })?;
/// # scoped_gpu::ok(())
/// ```
pub const ADD: &str = include_str!("../ptx/add.ptx");

/// `scale`: x = x · factor, in place.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `scale` | `(ReadWrite<f32>, f32, u32)` | x, factor, number of elements | [`cover(n)`](crate::Launch::cover) |
pub const SCALE: &str = include_str!("../ptx/scale.ptx");

/// `saxpy` and `daxpy`: y = a·x + y, as in BLAS level 1. Product and sum are rounded separately.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `saxpy` | `(f32, Read<f32>, ReadWrite<f32>, u32)` | a, x, y, number of elements | [`cover(n)`](crate::Launch::cover) |
/// | `daxpy` | `(f64, Read<f64>, ReadWrite<f64>, u32)` | the same | the same |
pub const SAXPY: &str = include_str!("../ptx/saxpy.ptx");

/// Fills of linear and pitched memory with an element of 1, 2, 4, 8, 16 or any other number of bytes.
///
/// Lengths, widths and heights count elements, pitches count bytes; `fill_repeat` and `fill_pitched_repeat` count bytes
/// throughout, for elements of any size. Any grid and block give the same result. Padding is not written.
///
/// | kernel | signature | arguments |
/// |---|---|---|
/// | `fill_u8` | `(Write<u8>, u64, u8)` | out, n, pattern |
/// | `fill_u16` | `(Write<u16>, u64, u16)` | the same |
/// | `fill_u32` | `(Write<u32>, u64, u32)` | the same |
/// | `fill_u64` | `(Write<u64>, u64, u64)` | the same |
/// | `fill_u128` | `(Write<[u64; 2]>, u64, u64, u64)` | out (16-byte aligned), n, lower half, upper half |
/// | `fill_pitched_u8` | `(Write<u8>, u64, u64, u64, u8)` | out, pitch, width, height, pattern |
/// | `fill_pitched_u16` | `(Write<u16>, u64, u64, u64, u16)` | the same; the pitch is a multiple of 2 |
/// | `fill_pitched_u32` | `(Write<u32>, u64, u64, u64, u32)` | the same; of 4 |
/// | `fill_pitched_u64` | `(Write<u64>, u64, u64, u64, u64)` | the same; of 8 |
/// | `fill_pitched_u128` | `(Write<[u64; 2]>, u64, u64, u64, u64, u64)` | out, pitch (a multiple of 16), width, height, lower half, upper half |
/// | `fill_repeat` | `(Write<u8>, u64, Read<u8>, u32)` | out, n bytes, pattern, its length (not 0) |
/// | `fill_pitched_repeat` | `(Write<u8>, u64, u64, u64, Read<u8>, u32)` | out, pitch, width in bytes, height, pattern, its length (not 0) |
pub const FILL: &str = include_str!("../ptx/fill.ptx");

/// Copies within the device. Source and destination do not overlap; any grid and block give the same result.
///
/// | kernel | signature | arguments |
/// |---|---|---|
/// | `copy_u32` | `(Read<u32>, Write<u32>, u64)` | source, destination, number of elements |
/// | `copy_u128` | `(Read<[u32; 4]>, Write<[u32; 4]>, u64)` | the same, both 16-byte aligned |
/// | `copy_pitched` | `(Read<u8>, u64, Write<u8>, u64, u64, u64)` | source, its pitch, destination, its pitch, width, height; all in bytes, but for the height in rows |
pub const COPY: &str = include_str!("../ptx/copy.ptx");

/// `stencil`: one Jacobi step for the Laplace equation, 0.25 · (((left + right) + above) + below); the boundary is copied.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `stencil` | `(Read<f32>, Write<f32>, u64, u32, u32)` | in, out, pitch of both in bytes, width, height | [`cover_2d(width, height)`](crate::Launch::cover_2d) |
pub const STENCIL: &str = include_str!("../ptx/stencil.ptx");

/// `perona_malik`: one explicit step of anisotropic diffusion (P. Perona, J. Malik, IEEE PAMI 12(7), 1990, with their
/// second conductance). Borders are repeated; stable for a `lambda` of at most 0.25.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `perona_malik` | `(Read<f32>, u64, Write<f32>, u64, u32, u32, f32, f32)` | in, its pitch in bytes, out, its pitch in bytes, width, height, kappa (in the unit of the image, not 0), lambda | [`cover_2d(width, height)`](crate::Launch::cover_2d) |
pub const PERONA_MALIK: &str = include_str!("../ptx/perona_malik.ptx");

/// Reductions to one partial result for each block. They use no atomics: the result depends on grid and block, never
/// on the order in which blocks run.
///
/// | kernel | signature | arguments |
/// |---|---|---|
/// | `reduce_sum` | `(Read<f32>, Write<f32>, u32)` | x, one partial sum for each block, number of elements |
/// | `reduce_min_max` | `(Read<i32>, Write<i32>, Write<i32>, u32)` | x, one minimum and one maximum for each block, number of elements |
pub const REDUCE: &str = include_str!("../ptx/reduce.ptx");

/// `shift_off_by_one`: y\[i + 1\] = x\[i\], which stores one element too far **on purpose**. For trying out fault
/// reports; it has line information.
///
/// | kernel | signature | arguments | launch |
/// |---|---|---|---|
/// | `shift_off_by_one` | `(Read<f32>, Write<f32>, u32)` | x, y, number of elements | [`cover(n)`](crate::Launch::cover) |
pub const SHIFT_OFF_BY_ONE: &str = include_str!("../ptx/shift_off_by_one.ptx");
