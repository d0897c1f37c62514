//! Fills: every element type by its bits, linear, pitched, rows; padding and neighbours stay.

use scoped_gpu::{Context, Element, Error, Rect, pitched, zeros};

use crate::harness::{Case, Chapter, Test, test};
use crate::padding::Padding;

/// Fills with each of `values` and compares the bits of everything, padding included.
fn fills<'ctx, T: Element>(ctx: &Context<'ctx>, padding: &Padding<'ctx>, values: &[T]) -> Result<(), Error> {
    const PAINT: u8 = 0x3c;
    let size = size_of::<T>();
    for value in values {
        let element = bytemuck::bytes_of(value);
        ctx.alloc((zeros::<T>(37), pitched::<T>(11, 5)), |(mut x, mut image)| {
            x.slice_mut(3..30).fill(*value)?;
            let zero = vec![0; size];
            let expected = [zero.repeat(3), element.repeat(27), zero.repeat(7)].concat();
            assert_eq!(bytemuck::cast_slice::<T, u8>(&x.to_vec()?), expected);
            x.fill(*value)?;
            assert_eq!(bytemuck::cast_slice::<T, u8>(&x.to_vec()?), element.repeat(37));

            // `rows`: which rows and columns of the picture hold the value
            let check = |image: &scoped_gpu::Pitched<'_, 'ctx, T>, rows: [usize; 2], columns: [usize; 2]| {
                let bytes = padding.bytes(ctx, image)?;
                let mut expected = vec![PAINT; bytes.len()];
                for y in rows[0]..rows[1] {
                    let start = y * image.pitch();
                    let row = &mut expected[start + columns[0] * size..start + columns[1] * size];
                    row.copy_from_slice(&element.repeat(columns[1] - columns[0]));
                }
                assert!(bytes == expected, "{} × {value:?}", std::any::type_name::<T>(), value = element);
                scoped_gpu::ok(())
            };
            padding.paint(ctx, &mut image, PAINT)?;
            image.fill(*value)?;
            check(&image, [0, 5], [0, 11])?;
            padding.paint(ctx, &mut image, PAINT)?;
            image.rows_mut(1..4).fill(*value)?;
            check(&image, [1, 4], [0, 11])?;
            padding.paint(ctx, &mut image, PAINT)?;
            image.rect_mut(Rect::new(2, 1, 5, 3)).fill(*value)?;
            check(&image, [1, 4], [2, 7])?;
            Ok::<_, Error>(())
        })?;
    }
    Ok(())
}

fn every_scalar_bit_for_bit(case: &mut Case) -> anyhow::Result<()> {
    // quiet and signalling NaNs with a payload, which arithmetic would not keep
    let singles = [1.5, -0.0, f32::NEG_INFINITY, f32::from_bits(0x7fc1_2345), f32::from_bits(0xffa0_0001)];
    let doubles = [0.1, -0.0, f64::from_bits(0x7ff8_dead_beef_0001), f64::from_bits(0xfff0_0000_0000_0001)];
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        fills::<u8>(ctx, &padding, &[0, 1, 0xfe])?;
        fills::<i8>(ctx, &padding, &[-1, i8::MIN])?;
        fills::<u16>(ctx, &padding, &[0x0102, 0xffff])?;
        fills::<i16>(ctx, &padding, &[-2, i16::MIN])?;
        fills::<u32>(ctx, &padding, &[0x0102_0304, u32::MAX])?;
        fills::<i32>(ctx, &padding, &[-2, i32::MIN])?;
        fills::<u64>(ctx, &padding, &[0x0102_0304_0506_0708, u64::MAX])?;
        fills::<i64>(ctx, &padding, &[-2, i64::MIN])?;
        fills::<f32>(ctx, &padding, &singles)?;
        fills::<f64>(ctx, &padding, &doubles)
    })?;
    Ok(())
}

fn elements_of_odd_sizes(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        let padding = Padding::new(ctx)?;
        fills::<[u8; 3]>(ctx, &padding, &[[1, 2, 3]])?;
        fills::<[u16; 3]>(ctx, &padding, &[[1, 2, 0xff00]])?;
        fills::<[u8; 12]>(ctx, &padding, &[std::array::from_fn(|i| i as u8)])?;
        fills::<[f64; 3]>(ctx, &padding, &[[1.0, -0.0, f64::NAN]])?;
        fills::<u128>(ctx, &padding, &[0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10])
    })?;
    Ok(())
}

/// A fill is ordered before everything later, and many of them in the order of their calls.
fn later_fills_win(case: &mut Case) -> anyhow::Result<()> {
    case.device.scope(|ctx| {
        ctx.alloc((zeros::<u32>(100),), |(mut x,)| {
            for value in 0..20 {
                x.slice_mut(value..).fill(value as u32)?;
            }
            let expected: Vec<u32> = (0..100).map(|i| i.min(19)).collect();
            assert_eq!(x.to_vec()?, expected);
            scoped_gpu::ok(())
        })
    })?;
    Ok(())
}

const TESTS: &[Test] = &[
    test!(every_scalar_bit_for_bit).shows(&[37]),
    test!(elements_of_odd_sizes).shows(&[36, 37]),
    test!(later_fills_win),
];

pub const CHAPTER: Chapter = Chapter { name: "fill", tests: TESTS };
