//! The 14 kernels of `tests/corpus/nvcc/checks.cu` as nvcc compiled them, each against plain Rust: exact where the
//! reference is, within its bound otherwise.

use anyhow::{Result, ensure};
use scoped_gpu::{Context, Error, Kernel, Launch, Read, ReadWrite, Signature, Write, filled, linear, zeros};

use crate::harness::{Case, Chapter, Test, test};
use crate::reference::random::Random;
use crate::reference::{Bound, ROUNDOFF, checks, compare_bits, compare_bounds};

fn kernel<'ctx, S: Signature>(ctx: &Context<'ctx>, name: &str) -> Result<Kernel<'ctx, S>, Error> {
    let text = include_str!("../corpus/nvcc/checks_sm90.ptx");
    ctx.module_named("checks_sm90.ptx", text)?.kernel(name)
}

fn agree(got: &[f32], expected: &[f32]) -> Result<()> {
    compare_bits(got, expected).map_err(anyhow::Error::msg)
}

fn within(got: &[f32], expected: &[Bound]) -> Result<()> {
    compare_bounds(got, expected).map_err(anyhow::Error::msg)
}

fn saxpy(case: &mut Case) -> Result<()> {
    axpy(case, "saxpy", Launch::cover)
}

/// A grid that is smaller than the array, so that each thread goes round its loop several times.
fn axpyloop(case: &mut Case) -> Result<()> {
    axpy(case, "axpyloop", |_| Launch::grid(2, 64))
}

fn axpy(case: &mut Case, name: &str, launch: impl Fn(usize) -> Launch) -> Result<()> {
    let mut random = Random::new(101);
    case.device.scope(|ctx| {
        let axpy = kernel::<(i32, f32, Read<f32>, ReadWrite<f32>)>(ctx, name)?;
        for n in [1, 127, 1001] {
            let (a, x) = (random.f32(-2.0..2.0), random.f32s(n, -1e3..1e3));
            let mut expected = random.f32s(n, -1e3..1e3);
            ctx.alloc((linear(&x), linear(&expected.clone())), |(on_device, mut y)| {
                ctx.launch(&axpy, launch(n), (n as i32, a, &on_device, &mut y))?;
                checks::saxpy(n as i32, a, &x, &mut expected);
                agree(&y.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn vec4(case: &mut Case) -> Result<()> {
    let mut random = Random::new(102);
    let n = 333;
    let x: Vec<[f32; 4]> = (0..n).map(|_| std::array::from_fn(|_| random.f32(-9.0..9.0))).collect();
    let mut expected = vec![[0.0; 4]; n];
    checks::vec4(n as i32, &x, &mut expected);
    case.device.scope(|ctx| {
        let vec4 = kernel::<(i32, Read<[f32; 4]>, Write<[f32; 4]>)>(ctx, "vec4")?;
        ctx.alloc((linear(&x), zeros::<[f32; 4]>(n)), |(x, mut y)| {
            ctx.launch(&vec4, Launch::cover(n), (n as i32, &x, &mut y))?;
            agree(y.to_vec()?.as_flattened(), expected.as_flattened())
        })
    })
}

fn reduce(case: &mut Case) -> Result<()> {
    let mut random = Random::new(103);
    let in_order = case.is_host();
    case.device.scope(|ctx| {
        let reduce = kernel::<(Read<f32>, ReadWrite<f32>, i32)>(ctx, "reduce")?;
        for (n, grid, block) in [(1, 1, 32), (777, 1, 256), (5003, 7, 96), (100, 3, 1024)] {
            let host = random.f32s(n, -10.0..10.0);
            ctx.alloc((linear(&host), filled(1, 0.5f32)), |(x, mut out)| {
                ctx.launch(&reduce, Launch::grid(grid, block), (&x, &mut out, n as i32))?;
                let (grid, block, n) = (grid as usize, block as usize, n as i32);
                let got = out.to_vec()?;
                if grid == 1 || in_order {
                    let mut expected = 0.5;
                    checks::reduce(&host, &mut expected, n, grid, block);
                    agree(&got, &[expected])?;
                }
                within(&got, &[checks::reduce_any_order(&host, 0.5, n, grid, block)])
            })?;
        }
        Ok(())
    })
}

fn matmul(case: &mut Case) -> Result<()> {
    let mut random = Random::new(104);
    case.device.scope(|ctx| {
        let matmul = kernel::<(Read<f32>, Read<f32>, Write<f32>, i32, i32, i32)>(ctx, "matmul")?;
        for (m, n, k) in [(1, 1, 1), (37, 41, 29), (16, 32, 48), (5, 35, 33)] {
            let (a, b) = (random.f32s(m * k, -1.0..1.0), random.f32s(k * n, -1.0..1.0));
            let mut expected = vec![0.0; m * n];
            let [rows, columns, inner] = [m, n, k].map(|size| size as i32);
            checks::matmul(&a, &b, &mut expected, rows, columns, inner);
            ctx.alloc((linear(&a), linear(&b), zeros::<f32>(m * n)), |(a, b, mut c)| {
                let grid = Launch::cover_2d(n, m).block((16, 16));
                ctx.launch(&matmul, grid, (&a, &b, &mut c, rows, columns, inner))?;
                agree(&c.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn histogram(case: &mut Case) -> Result<()> {
    let mut random = Random::new(105);
    let data = random.u8s(2051);
    let mut expected: Vec<u32> = (0..256).collect();
    let before = expected.clone();
    checks::histogram(&data, &mut expected, 2051);
    case.device.scope(|ctx| {
        let histogram = kernel::<(Read<u8>, ReadWrite<u32>, i32)>(ctx, "histogram")?;
        for (grid, block) in [(1, 32), (5, 128), (2, 100)] {
            ctx.alloc((linear(&data), linear(&before)), |(data, mut counts)| {
                let launch = Launch::grid(grid, block).shared_bytes(256 * 4);
                ctx.launch(&histogram, launch, (&data, &mut counts, 2051))?;
                ensure!(counts.to_vec()? == expected, "{grid} blocks of {block}");
                anyhow::Ok(())
            })?;
        }
        Ok(())
    })
}

fn stencil(case: &mut Case) -> Result<()> {
    let mut random = Random::new(106);
    let exact = case.is_host();
    case.device.scope(|ctx| {
        let stencil = kernel::<(Read<f32>, ReadWrite<f32>, i32, i32)>(ctx, "stencil")?;
        for (nx, ny) in [(1, 1), (3, 3), (50, 33), (17, 65)] {
            let (host, before) = (random.f32s(nx * ny, -10.0..10.0), random.f32s(nx * ny, -1.0..1.0));
            let mut expected = before.clone();
            checks::stencil(&host, &mut expected, nx as i32, ny as i32);
            ctx.alloc((linear(&host), linear(&before)), |(from, mut to)| {
                ctx.launch(&stencil, Launch::cover_2d(nx, ny), (&from, &mut to, nx as i32, ny as i32))?;
                if exact {
                    return agree(&to.to_vec()?, &expected);
                }
                // A GPU's assembler may fuse the product, which is at most 10, with the difference.
                let bound = |value: &f32| Bound { value: f64::from(*value), error: 20.0 * ROUNDOFF };
                within(&to.to_vec()?, &expected.iter().map(bound).collect::<Vec<_>>())
            })?;
        }
        Ok(())
    })
}

fn nbody(case: &mut Case) -> Result<()> {
    let mut random = Random::new(107);
    let mut bodies = |n: usize, low: f32| -> Vec<[f32; 4]> {
        (0..n).map(|_| std::array::from_fn(|_| random.f32(low..2.0))).collect()
    };
    case.device.scope(|ctx| {
        let nbody = kernel::<(Read<[f32; 4]>, ReadWrite<[f32; 4]>, i32, f32)>(ctx, "nbody")?;
        for (n, block) in [(1, 32), (65, 64), (100, 128)] {
            let (places, velocities) = (bodies(n, 0.1), bodies(n, -1.0));
            let expected = checks::nbody(&places, &velocities, n as i32, 0.01);
            ctx.alloc((linear(&places), linear(&velocities)), |(p, mut v)| {
                ctx.launch(&nbody, Launch::cover(n).block(block), (&p, &mut v, n as i32, 0.01))?;
                for ((got, expected), before) in v.to_vec()?.iter().zip(&expected).zip(&velocities) {
                    within(&got[..3], expected)?;
                    agree(&got[3..], &before[3..])?;
                }
                anyhow::Ok(())
            })?;
        }
        Ok(())
    })
}

fn mandel(case: &mut Case) -> Result<()> {
    let (w, h, steps) = (45, 31, 50);
    let (x0, y0, sx, sy) = (-2.1, -1.2, 0.07, 0.075);
    let mut expected = vec![0; w * h];
    checks::mandel(&mut expected, w as i32, h as i32, x0, y0, sx, sy, steps);
    let exact = case.is_host();
    case.device.scope(|ctx| {
        let mandel = kernel::<(Write<u8>, i32, i32, f32, f32, f32, f32, i32)>(ctx, "mandel")?;
        ctx.alloc((zeros::<u8>(w * h),), |(mut out,)| {
            let place = (&mut out, w as i32, h as i32, x0, y0, sx, sy, steps);
            ctx.launch(&mandel, Launch::cover_2d(w, h), place)?;
            let got = out.to_vec()?;
            let different = got.iter().zip(&expected).filter(|(got, expected)| got != expected).count();
            // A GPU's assembler may fuse products, which moves pixels on the edge of the set.
            let allowed = if exact { 0 } else { w * h / 100 };
            ensure!(different <= allowed, "{different} of {} pixels differ", w * h);
            Ok(())
        })
    })
}

/// The whole network, one launch for each step.
fn bitonic(case: &mut Case) -> Result<()> {
    let mut random = Random::new(109);
    case.device.scope(|ctx| {
        let bitonic = kernel::<(ReadWrite<i32>, i32, i32)>(ctx, "bitonic")?;
        for n in [2, 64, 256] {
            let host = random.i32s(n, -100..100);
            let mut expected = host.clone();
            ctx.alloc((linear(&host),), |(mut data,)| {
                let mut k = 2;
                while k <= n {
                    let mut j = k / 2;
                    while j > 0 {
                        let launch = Launch::cover(n).block(n.min(128) as u32);
                        ctx.launch(&bitonic, launch, (&mut data, j as i32, k as i32))?;
                        checks::bitonic(&mut expected, j as i32, k as i32);
                        j /= 2;
                    }
                    ensure!(data.to_vec()? == expected, "after the stage of {k} of {n}");
                    k *= 2;
                }
                ensure!(expected.is_sorted(), "the network sorts");
                anyhow::Ok(())
            })?;
        }
        Ok(())
    })
}

fn transpose(case: &mut Case) -> Result<()> {
    let mut random = Random::new(110);
    case.device.scope(|ctx| {
        let transpose = kernel::<(Read<f32>, Write<f32>, i32)>(ctx, "transpose")?;
        for n in [1, 32, 45] {
            let host = random.f32s(n * n, -9.0..9.0);
            let mut expected = vec![0.0; n * n];
            checks::transpose(&host, &mut expected, n as i32);
            ctx.alloc((linear(&host), zeros::<f32>(n * n)), |(a, mut b)| {
                let tiles = n.div_ceil(32) as u32;
                ctx.launch(&transpose, Launch::grid((tiles, tiles), (32, 8)), (&a, &mut b, n as i32))?;
                agree(&b.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

fn softmax(case: &mut Case) -> Result<()> {
    let mut random = Random::new(111);
    case.device.scope(|ctx| {
        let softmax = kernel::<(Read<f32>, Write<f32>, i32)>(ctx, "softmax")?;
        for (rows, n) in [(1, 1), (7, 33), (3, 200)] {
            let host = random.f32s(rows * n, -30.0..30.0);
            let expected = checks::softmax(&host, n as i32);
            ctx.alloc((linear(&host), zeros::<f32>(rows * n)), |(x, mut y)| {
                ctx.launch(&softmax, Launch::grid(rows as u32, 32), (&x, &mut y, n as i32))?;
                within(&y.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

/// Rows of every length from none to many, columns in any order.
fn spmv(case: &mut Case) -> Result<()> {
    let mut random = Random::new(112);
    let n = 143;
    let mut starts = vec![0];
    let mut columns = Vec::new();
    for row in 0..n {
        let entries = if row % 5 == 0 { 0 } else { random.below(30) };
        columns.extend((0..entries).map(|_| random.below(n as u64) as i32));
        starts.push(columns.len() as i32);
    }
    let (values, x) = (random.f32s(columns.len(), -1.0..1.0), random.f32s(n, -9.0..9.0));
    let mut expected = vec![0.0; n];
    checks::spmv(&starts, &columns, &values, &x, &mut expected, n as i32);
    case.device.scope(|ctx| {
        let spmv = kernel::<(Read<i32>, Read<i32>, Read<f32>, Read<f32>, Write<f32>, i32)>(ctx, "spmv")?;
        let specs = (linear(&starts), linear(&columns), linear(&values), linear(&x), filled(n, -1.0f32));
        ctx.alloc(specs, |(starts, columns, values, x, mut y)| {
            let launch = Launch::cover(n).block(64);
            ctx.launch(&spmv, launch, (&starts, &columns, &values, &x, &mut y, n as i32))?;
            agree(&y.to_vec()?, &expected)
        })
    })
}

fn mmnaive(case: &mut Case) -> Result<()> {
    let mut random = Random::new(113);
    case.device.scope(|ctx| {
        let product = kernel::<(Read<f32>, Read<f32>, Write<f32>, i32)>(ctx, "mmnaive")?;
        for n in [1, 19, 27] {
            let (a, b) = (random.f32s(n * n, -1.0..1.0), random.f32s(n * n, -1.0..1.0));
            let mut expected = vec![0.0; n * n];
            checks::mmnaive(&a, &b, &mut expected, n as i32);
            ctx.alloc((linear(&a), linear(&b), zeros::<f32>(n * n)), |(a, b, mut c)| {
                ctx.launch(&product, Launch::cover_2d(n, n), (&a, &b, &mut c, n as i32))?;
                agree(&c.to_vec()?, &expected)
            })?;
        }
        Ok(())
    })
}

const TESTS: &[Test] = &[
    test!(saxpy),
    test!(vec4),
    test!(reduce),
    test!(matmul),
    test!(histogram),
    test!(stencil),
    test!(nbody),
    test!(mandel),
    test!(bitonic),
    test!(transpose),
    test!(softmax),
    test!(spmv),
    test!(mmnaive),
    test!(axpyloop),
];

pub const CHAPTER: Chapter = Chapter { name: "kernels_checks", tests: TESTS };
