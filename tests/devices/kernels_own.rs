//! The kernels that the crate ships, each against plain Rust, bit for bit, with odd sizes.

use std::fmt::Debug;

use anyhow::Result;
use scoped_gpu::{
    Context, Element, Error, Launch, Linear, Module, Read, ReadWrite, Write, linear, pitched, zeros,
};

use crate::harness::{Case, Chapter, Test, test};
use crate::padding::Padding;
use crate::reference::random::Random;
use crate::reference::{compare_bits, own};

/// Lengths around the sizes of warps and blocks.
const LENGTHS: [usize; 6] = [1, 31, 33, 256, 257, 531];

/// Pictures that are no multiple of a block, thin ones among them.
const PICTURES: [(usize, usize); 5] = [(1, 1), (1, 9), (33, 1), (40, 11), (65, 7)];

fn agree(got: &[f32], expected: &[f32]) -> Result<()> {
    compare_bits(got, expected).map_err(anyhow::Error::msg)
}

fn module<'ctx>(ctx: &Context<'ctx>, name: &str) -> Result<Module<'ctx>, Error> {
    let text = match name {
        "add" => include_str!("../../ptx/add.ptx"),
        "scale" => include_str!("../../ptx/scale.ptx"),
        "saxpy" => include_str!("../../ptx/saxpy.ptx"),
        "fill" => include_str!("../../ptx/fill.ptx"),
        "copy" => include_str!("../../ptx/copy.ptx"),
        "stencil" => include_str!("../../ptx/stencil.ptx"),
        "perona_malik" => include_str!("../../ptx/perona_malik.ptx"),
        "reduce" => include_str!("../../ptx/reduce.ptx"),
        _ => include_str!("../../ptx/shift_off_by_one.ptx"),
    };
    ctx.module_named(name, text)
}

fn add(case: &mut Case) -> Result<()> {
    let mut random = Random::new(11);
    case.device.scope(|ctx| {
        let add = module(ctx, "add")?.kernel::<(Read<f32>, Read<f32>, Write<f32>, u32)>("add")?;
        for n in LENGTHS {
            let (a, b) = (random.f32s(n, -1e3..1e3), random.f32s(n, -1.0..1.0));
            let mut expected = vec![0.0; n];
            own::add(&a, &b, &mut expected, n as u32);
            ctx.alloc((linear(&a), linear(&b), zeros::<f32>(n)), |(a, b, mut c)| {
                ctx.launch(&add, Launch::cover(n), (&a, &b, &mut c, n as u32))?;
                agree(&c.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn scale(case: &mut Case) -> Result<()> {
    let mut random = Random::new(12);
    case.device.scope(|ctx| {
        let scale = module(ctx, "scale")?.kernel::<(ReadWrite<f32>, f32, u32)>("scale")?;
        for (n, factor) in LENGTHS.into_iter().zip([0.1, -3.0, 0.0, 1e-40, f32::INFINITY, 7.25]) {
            let mut expected = random.f32s(n, -1e3..1e3);
            ctx.alloc((linear(&expected.clone()),), |(mut x,)| {
                ctx.launch(&scale, Launch::cover(n).block(96), (&mut x, factor, n as u32))?;
                own::scale(&mut expected, factor, n as u32);
                agree(&x.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn saxpy(case: &mut Case) -> Result<()> {
    let mut random = Random::new(13);
    case.device.scope(|ctx| {
        let saxpy = module(ctx, "saxpy")?.kernel::<(f32, Read<f32>, ReadWrite<f32>, u32)>("saxpy")?;
        for n in LENGTHS {
            let (a, x, mut expected) =
                (random.f32(-2.0..2.0), random.f32s(n, -1e3..1e3), random.f32s(n, -1e3..1e3));
            ctx.alloc((linear(&x), linear(&expected.clone())), |(on_device, mut y)| {
                ctx.launch(&saxpy, Launch::cover(n), (a, &on_device, &mut y, n as u32))?;
                own::saxpy(a, &x, &mut expected, n as u32);
                agree(&y.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn daxpy(case: &mut Case) -> Result<()> {
    let mut random = Random::new(14);
    let mut doubles = |n: usize| -> Vec<f64> {
        (0..n)
            .map(|_| f64::from(random.f32(-1.0..1.0)) * (1.0 + f64::from(random.f32(0.0..1.0)) * 1e-9))
            .collect()
    };
    case.device.scope(|ctx| {
        let daxpy = module(ctx, "saxpy")?.kernel::<(f64, Read<f64>, ReadWrite<f64>, u32)>("daxpy")?;
        for n in LENGTHS {
            let (x, mut expected) = (doubles(n), doubles(n));
            ctx.alloc((linear(&x), linear(&expected.clone())), |(on_device, mut y)| {
                ctx.launch(&daxpy, Launch::cover(n), (0.1, &on_device, &mut y, n as u32))?;
                own::daxpy(0.1, &x, &mut expected, n as u32);
                assert_eq!(y.to_vec()?.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), bits(&expected));
                anyhow::Ok(())
            })?;
        }
        Ok(())
    })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A linear fill of `n` elements, of which the array has three more.
fn fill_linear<'ctx, T: Element + Debug>(
    ctx: &Context<'ctx>,
    n: usize,
    value: T,
    launch: impl Fn(&mut Linear<'_, 'ctx, T>) -> Result<(), Error>,
) -> Result<()> {
    ctx.alloc((zeros::<T>(n + 3),), |(mut out,)| {
        launch(&mut out)?;
        let mut expected = vec![0; (n + 3) * size_of::<T>()];
        own::fill(&mut expected, n as u64, bytemuck::bytes_of(&value));
        anyhow::ensure!(bytemuck::cast_slice::<T, u8>(&out.to_vec()?) == expected, "{n} × {value:?}");
        Ok(())
    })
}

/// Every linear fill, with grids that cover the array and grids that stride over it.
fn linear_fills(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let fill = module(ctx, "fill")?;
        let u8s = fill.kernel::<(Write<u8>, u64, u8)>("fill_u8")?;
        let u16s = fill.kernel::<(Write<u16>, u64, u16)>("fill_u16")?;
        let u32s = fill.kernel::<(Write<u32>, u64, u32)>("fill_u32")?;
        let u64s = fill.kernel::<(Write<u64>, u64, u64)>("fill_u64")?;
        let u128s = fill.kernel::<(Write<[u64; 2]>, u64, u64, u64)>("fill_u128")?;
        let repeat = fill.kernel::<(Write<u8>, u64, Read<u8>, u32)>("fill_repeat")?;
        let pattern = [1u8, 2, 3, 4, 5, 6, 7];
        for n in [0, 1, 65, 300] {
            for grid in [Launch::cover(n), Launch::grid(2, 48), Launch::grid(1, 1)] {
                let count = n as u64;
                fill_linear(ctx, n, 0xa7u8, |out| ctx.launch(&u8s, grid, (out, count, 0xa7)))?;
                fill_linear(ctx, n, 0xa7b6u16, |out| ctx.launch(&u16s, grid, (out, count, 0xa7b6)))?;
                fill_linear(ctx, n, u32::MAX - 5, |out| ctx.launch(&u32s, grid, (out, count, u32::MAX - 5)))?;
                fill_linear(ctx, n, 1u64 << 40, |out| ctx.launch(&u64s, grid, (out, count, 1 << 40)))?;
                fill_linear(ctx, n, [3u64, 5], |out| ctx.launch(&u128s, grid, (out, count, 3, 5)))?;
                ctx.alloc((linear(&pattern), zeros::<u8>(n + 3)), |(period, mut out)| {
                    let whole = n / 7 * 7;
                    ctx.launch(&repeat, grid, (&mut out, whole as u64, &period, 7))?;
                    let mut expected = vec![0; n + 3];
                    own::fill(&mut expected, n as u64 / 7, &pattern);
                    assert_eq!(out.to_vec()?[..whole], expected[..whole]);
                    anyhow::Ok(())
                })?;
            }
        }
        Ok(())
    })
}

/// A pitched fill by a kernel that takes the pattern as `pattern`, with painted padding.
macro_rules! fill_pitched {
    ($ctx:ident, $padding:ident, $module:ident, $kernel:literal, $element:ty, ($($scalar:ty),+), ($($pattern:expr),+), $value:expr) => {
        let kernel = $module.kernel::<(Write<$element>, u64, u64, u64, $($scalar),+)>($kernel)?;
        for (width, height) in PICTURES {
            for grid in [Launch::cover_2d(width, height), Launch::grid((2, 1), (8, 3))] {
                $ctx.alloc((pitched::<$element>(width, height),), |(mut image,)| {
                    $padding.paint($ctx, &mut image, 0x11)?;
                    let (pitch, w, h) = (image.pitch() as u64, width as u64, height as u64);
                    $ctx.launch(&kernel, grid, (&mut image, pitch, w, h, $($pattern),+))?;
                    let got = $padding.bytes($ctx, &image)?;
                    let mut expected = vec![0x11; got.len()];
                    let value: $element = $value;
                    own::fill_pitched(&mut expected, pitch, w, h, bytemuck::bytes_of(&value));
                    anyhow::ensure!(got == expected, "{} of {width} × {height}", $kernel);
                    anyhow::Ok(())
                })?;
            }
        }
    };
}

fn pitched_fills(case: &mut Case) -> Result<()> {
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        let fill = module(ctx, "fill")?;
        fill_pitched!(ctx, padding, fill, "fill_pitched_u8", u8, (u8), (0x7e), 0x7e);
        fill_pitched!(ctx, padding, fill, "fill_pitched_u16", u16, (u16), (0x7e01), 0x7e01);
        fill_pitched!(ctx, padding, fill, "fill_pitched_u32", u32, (u32), (!7), !7);
        fill_pitched!(ctx, padding, fill, "fill_pitched_u64", u64, (u64), (!9), !9);
        fill_pitched!(ctx, padding, fill, "fill_pitched_u128", [u64; 2], (u64, u64), (!9, 4), [!9, 4]);
        Ok(())
    })
}

fn pitched_fill_of_any_period(case: &mut Case) -> Result<()> {
    let element: [u8; 12] = std::array::from_fn(|i| 200 - i as u8);
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        let repeat = module(ctx, "fill")?
            .kernel::<(Write<[u8; 12]>, u64, u64, u64, Read<u8>, u32)>("fill_pitched_repeat")?;
        for (width, height) in PICTURES {
            ctx.alloc((pitched::<[u8; 12]>(width, height), linear(&element)), |(mut image, pattern)| {
                padding.paint(ctx, &mut image, 0x11)?;
                let (pitch, bytes, rows) = (image.pitch() as u64, 12 * width as u64, height as u64);
                let grid = Launch::cover_2d(12 * width, height);
                ctx.launch(&repeat, grid, (&mut image, pitch, bytes, rows, &pattern, 12))?;
                let got = padding.bytes(ctx, &image)?;
                let mut expected = vec![0x11; got.len()];
                own::fill_pitched(&mut expected, pitch, width as u64, rows, &element);
                anyhow::ensure!(got == expected, "{width} × {height}");
                anyhow::Ok(())
            })?;
        }
        Ok(())
    })
}

fn linear_copies(case: &mut Case) -> Result<()> {
    let mut random = Random::new(15);
    case.device.scope(|ctx| {
        let copy = module(ctx, "copy")?;
        let words = copy.kernel::<(Read<u32>, Write<u32>, u64)>("copy_u32")?;
        let quads = copy.kernel::<(Read<[u32; 4]>, Write<[u32; 4]>, u64)>("copy_u128")?;
        for n in LENGTHS {
            let host = random.u32s(4 * n);
            let vectors: Vec<[u32; 4]> = bytemuck::cast_slice(&host).to_vec();
            for grid in [Launch::cover(n), Launch::grid(3, 40)] {
                ctx.alloc((linear(&host), zeros::<u32>(n + 1)), |(from, mut to)| {
                    ctx.launch(&words, grid, (&from, &mut to, n as u64))?;
                    let mut expected = vec![0; n + 1];
                    own::copy(&host, &mut expected, n as u64);
                    anyhow::ensure!(to.to_vec()? == expected, "{n} words");
                    anyhow::Ok(())
                })?;
                ctx.alloc((linear(&vectors), zeros::<[u32; 4]>(n + 1)), |(from, mut to)| {
                    ctx.launch(&quads, grid, (&from, &mut to, n as u64))?;
                    let mut expected = vec![[0; 4]; n + 1];
                    own::copy(&vectors, &mut expected, n as u64);
                    anyhow::ensure!(to.to_vec()? == expected, "{n} vectors");
                    anyhow::Ok(())
                })?;
            }
        }
        Ok(())
    })
}

fn pitched_copy(case: &mut Case) -> Result<()> {
    let mut random = Random::new(16);
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        let copy =
            module(ctx, "copy")?.kernel::<(Read<u8>, u64, Write<u8>, u64, u64, u64)>("copy_pitched")?;
        for (width, height) in PICTURES {
            let host = random.u8s(width * height);
            ctx.alloc(
                (pitched::<u8>(width, height), pitched::<u8>(width + 500, height)),
                |(mut from, mut to)| {
                    from.copy_from_host(&host)?;
                    padding.paint(ctx, &mut to, 0x22)?;
                    let (w, h) = (width as u64, height as u64);
                    let (source, destination) = (from.pitch() as u64, to.pitch() as u64);
                    ctx.launch(
                        &copy,
                        Launch::cover_2d(width, height),
                        (&from, source, &mut to, destination, w, h),
                    )?;
                    let got = padding.bytes(ctx, &to)?;
                    let mut expected = vec![0x22; got.len()];
                    own::copy_pitched(&host, w, &mut expected, destination, w, h);
                    anyhow::ensure!(got == expected, "{width} × {height}");
                    anyhow::Ok(())
                },
            )?;
        }
        Ok(())
    })
}

fn stencil(case: &mut Case) -> Result<()> {
    let mut random = Random::new(17);
    case.device.scope(|ctx| {
        let stencil = module(ctx, "stencil")?.kernel::<(Read<f32>, Write<f32>, u64, u32, u32)>("stencil")?;
        for (width, height) in PICTURES {
            let host = random.f32s(width * height, -10.0..10.0);
            let mut expected = vec![0.0; host.len()];
            own::stencil(&host, &mut expected, width as u32, height as u32);
            ctx.alloc(
                (pitched::<f32>(width, height), pitched::<f32>(width, height)),
                |(mut from, mut to)| {
                    from.copy_from_host(&host)?;
                    let pitch = from.pitch() as u64;
                    let grid = Launch::cover_2d(width, height);
                    ctx.launch(&stencil, grid, (&from, &mut to, pitch, width as u32, height as u32))?;
                    agree(&to.to_vec()?, &expected)
                },
            )?;
        }
        Ok(())
    })
}

/// Several steps on two arrays that swap.
fn perona_malik(case: &mut Case) -> Result<()> {
    let mut random = Random::new(18);
    case.device.scope(|ctx| {
        let step = module(ctx, "perona_malik")?
            .kernel::<(Read<f32>, u64, Write<f32>, u64, u32, u32, f32, f32)>("perona_malik")?;
        for (width, height) in PICTURES {
            let mut expected = random.f32s(width * height, 0.0..255.0);
            ctx.alloc(
                (pitched::<f32>(width, height), pitched::<f32>(width, height)),
                |(mut now, mut next)| {
                    now.copy_from_host(&expected)?;
                    let (w, h) = (width as u32, height as u32);
                    for _ in 0..3 {
                        let (from, to) = (now.pitch() as u64, next.pitch() as u64);
                        let grid = Launch::cover_2d(width, height);
                        ctx.launch(&step, grid, (&now, from, &mut next, to, w, h, 20.0, 0.2))?;
                        std::mem::swap(&mut now, &mut next);
                        let before = expected.clone();
                        own::perona_malik(&before, &mut expected, w, h, 20.0, 0.2);
                    }
                    agree(&now.to_vec()?, &expected)
                },
            )?;
        }
        Ok(())
    })
}

/// Grids and blocks that are no powers of two among them: they decide the order of the additions.
const REDUCTIONS: [(u32, u32); 4] = [(1, 1), (3, 96), (2, 100), (4, 256)];

fn reduce_sum(case: &mut Case) -> Result<()> {
    let mut random = Random::new(19);
    case.device.scope(|ctx| {
        let reduce = module(ctx, "reduce")?.kernel::<(Read<f32>, Write<f32>, u32)>("reduce_sum")?;
        for n in LENGTHS {
            let host = random.f32s(n, -1e3..1e3);
            for (grid, block) in REDUCTIONS {
                let mut expected = vec![0.0; grid as usize];
                own::reduce_sum(&host, &mut expected, n as u32, grid, block);
                ctx.alloc((linear(&host), zeros::<f32>(grid as usize)), |(x, mut partial)| {
                    ctx.launch(&reduce, Launch::grid(grid, block), (&x, &mut partial, n as u32))?;
                    agree(&partial.to_vec()?, &expected)
                })?;
            }
        }
        Ok(())
    })
}

fn reduce_min_max(case: &mut Case) -> Result<()> {
    let mut random = Random::new(20);
    case.device.scope(|ctx| {
        let reduce =
            module(ctx, "reduce")?.kernel::<(Read<i32>, Write<i32>, Write<i32>, u32)>("reduce_min_max")?;
        for n in LENGTHS {
            let host = random.i32s(n, i32::MIN..i32::MAX);
            for (grid, block) in REDUCTIONS {
                let blocks = grid as usize;
                let (mut least, mut most) = (vec![0; blocks], vec![0; blocks]);
                own::reduce_min_max(&host, &mut least, &mut most, n as u32, grid, block);
                ctx.alloc(
                    (linear(&host), zeros::<i32>(blocks), zeros::<i32>(blocks)),
                    |(x, mut a, mut b)| {
                        ctx.launch(&reduce, Launch::grid(grid, block), (&x, &mut a, &mut b, n as u32))?;
                        assert_eq!((a.to_vec()?, b.to_vec()?), (least, most), "{n}, {grid} × {block}");
                        anyhow::Ok(())
                    },
                )?;
            }
        }
        Ok(())
    })
}

/// With room for its mistake it is no mistake.
fn shift_off_by_one(case: &mut Case) -> Result<()> {
    let mut random = Random::new(21);
    case.device.scope(|ctx| {
        let shift =
            module(ctx, "shift_off_by_one")?.kernel::<(Read<f32>, Write<f32>, u32)>("shift_off_by_one")?;
        for n in LENGTHS {
            let host = random.f32s(n, -1e3..1e3);
            let mut expected = vec![0.0; n + 1];
            own::shift_off_by_one(&host, &mut expected, n as u32);
            ctx.alloc((linear(&host), zeros::<f32>(n + 1)), |(x, mut y)| {
                ctx.launch(&shift, Launch::cover(n), (&x, &mut y, n as u32))?;
                agree(&y.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

const TESTS: &[Test] = &[
    test!(add),
    test!(scale),
    test!(saxpy),
    test!(daxpy),
    test!(linear_fills),
    test!(pitched_fills),
    test!(pitched_fill_of_any_period),
    test!(linear_copies),
    test!(pitched_copy),
    test!(stencil),
    test!(perona_malik),
    test!(reduce_sum),
    test!(reduce_min_max),
    test!(shift_off_by_one),
];

pub const CHAPTER: Chapter = Chapter { name: "kernels_own", tests: TESTS };
