//! Copies and fills against the plainest loop there is, with every byte of both sides compared: what a transfer
//! does not name stays as it was.

use super::*;

/// Xorshift by Marsaglia: repeatable numbers for shapes and contents.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn up_to(&mut self, most: usize) -> usize {
        (self.next() % (most as u64 + 1)) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// Where rows lie in an array of bytes.
#[derive(Debug, Clone, Copy)]
struct Layout {
    start: usize,
    pitch: usize,
    slice_pitch: usize,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    row_bytes: usize,
    rows: usize,
    slices: usize,
}

impl Layout {
    /// A random layout of `shape`, one in three without padding.
    fn random(numbers: &mut Numbers, shape: Shape) -> Self {
        let mut padding = |most| if numbers.up_to(2) == 0 { 0 } else { numbers.up_to(most) };
        let pitch = shape.row_bytes + padding(9);
        let slice_pitch = pitch * shape.rows + padding(30);
        Self { start: padding(20), pitch, slice_pitch }
    }

    fn len(&self, shape: Shape) -> usize {
        self.start + self.slice_pitch * shape.slices + 5
    }

    /// The place of each row, in order.
    fn rows(self, shape: Shape) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..shape.slices).flat_map(move |slice| {
            (0..shape.rows).map(move |row| {
                let at = self.start + slice * self.slice_pitch + row * self.pitch;
                at..at + shape.row_bytes
            })
        })
    }

    fn side(&self, place: Place) -> Side {
        Side { place, pitch: self.pitch, slice_pitch: self.slice_pitch }
    }
}

/// One side of a copy: an array on the device or on the host, with guards around what is copied.
struct Array {
    layout: Layout,
    host: Vec<u8>,
    /// The copy of `host` on the device, for a device side.
    device: Option<u64>,
}

impl Array {
    fn new(device: &HostBackend, numbers: &mut Numbers, shape: Shape, on_device: bool) -> Self {
        let layout = Layout::random(numbers, shape);
        let host = numbers.bytes(layout.len(shape));
        let address = on_device.then(|| {
            let address = device.allocate(host.len()).unwrap();
            write(device, address, &host);
            address
        });
        Self { layout, host, device: address }
    }

    fn side(&mut self) -> Side {
        let start = self.layout.start;
        match self.device {
            Some(address) => self.layout.side(Place::Device(address + start as u64)),
            None => self.layout.side(host_place(self.host[start..].as_mut_ptr())),
        }
    }

    fn contents(&self, device: &HostBackend) -> Vec<u8> {
        self.device.map_or_else(|| self.host.clone(), |address| read(device, address, self.host.len()))
    }
}

#[test]
fn copies_of_every_direction_and_shape_equal_a_naive_loop() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let mut numbers = Numbers(0x5eed);
    for round in 0..600 {
        let shape = Shape {
            row_bytes: 1 + numbers.up_to(40),
            rows: 1 + numbers.up_to(5),
            slices: 1 + numbers.up_to(3),
        };
        let mut dst = Array::new(&device, &mut numbers, shape, round & 1 == 0);
        let mut src = Array::new(&device, &mut numbers, shape, round & 2 == 0);
        let mut expected = dst.host.clone();
        for (to, from) in dst.layout.rows(shape).zip(src.layout.rows(shape)) {
            expected[to].copy_from_slice(&src.host[from]);
        }
        let source = src.host.clone();
        let Shape { row_bytes, rows, slices } = shape;
        queue(&device, stream, &Copy { dst: dst.side(), src: src.side(), row_bytes, rows, slices });
        device.wait_stream(stream).unwrap();
        assert_eq!(dst.contents(&device), expected, "{shape:?} {:?} {:?}", dst.layout, src.layout);
        assert_eq!(src.contents(&device), source, "the source is left alone");
        for address in [dst.device, src.device].into_iter().flatten() {
            free(&device, address).unwrap();
        }
    }
    assert_eq!(device.statistics().allocations, 0);
}

#[test]
fn fills_of_every_element_size_equal_a_naive_loop() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let mut numbers = Numbers(0xf111);
    for size in 1..=33 {
        for round in 0..12 {
            let shape = Shape {
                row_bytes: size * (1 + numbers.up_to(20)),
                rows: 1 + numbers.up_to(4),
                slices: 1 + numbers.up_to(2),
            };
            let mut array = Array::new(&device, &mut numbers, shape, true);
            // now and then an element of equal bytes, which is filled another way
            let element = if round % 4 == 0 { vec![round; size] } else { numbers.bytes(size) };
            let mut expected = array.host.clone();
            for row in array.layout.rows(shape) {
                expected[row].chunks_exact_mut(size).for_each(|place| place.copy_from_slice(&element));
            }
            let Side { place: Place::Device(address), pitch, slice_pitch } = array.side() else {
                unreachable!("the array is on the device");
            };
            let Shape { row_bytes, rows, slices } = shape;
            let element = SmallVec::from_vec(element);
            let fill = Fill { address, pitch, slice_pitch, row_bytes, rows, slices, element };
            // SAFETY: the array is live and holds the shape.
            unsafe { device.fill(stream, &fill) }.unwrap();
            device.wait_stream(stream).unwrap();
            assert_eq!(
                array.contents(&device),
                expected,
                "{size}-byte elements, {shape:?} {:?}",
                array.layout
            );
            free(&device, array.device.unwrap()).unwrap();
        }
    }
}

#[test]
fn a_long_fill_repeats_its_element_without_a_seam() {
    let device = device();
    let stream = device.create_stream().unwrap();
    for size in [1, 2, 3, 4, 8, 12, 16, 24, 1000, 40_000] {
        let element: Vec<u8> = (0..size).map(|n| (n * 7 + 1) as u8).collect();
        let len = size * (1_000_000 / size + 1);
        let a = device.allocate(len).unwrap();
        let fill = Fill {
            address: a,
            pitch: 0,
            slice_pitch: 0,
            row_bytes: len,
            rows: 1,
            slices: 1,
            element: SmallVec::from_slice(&element),
        };
        // SAFETY: the allocation is live and of this length.
        unsafe { device.fill(stream, &fill) }.unwrap();
        device.wait_stream(stream).unwrap();
        assert!(read(&device, a, len).chunks_exact(size).all(|place| place == element), "{size}");
        free(&device, a).unwrap();
    }
}

#[test]
fn pinned_memory_is_host_memory() {
    let device = device();
    let stream = device.create_stream().unwrap();
    let a = device.allocate(64).unwrap();
    let pinned = device.allocate_pinned(64).unwrap();
    queue_fill(&device, stream, a, 32, 9).unwrap();
    let place = Place::Host(HostPointer(pinned));
    queue(&device, stream, &row_copy(place, Place::Device(a), 32));
    device.wait_stream(stream).unwrap();
    // SAFETY: 64 zeroed bytes, of which 32 were copied to; nothing else uses them.
    let seen = unsafe { std::slice::from_raw_parts(pinned.as_ptr(), 64) };
    assert!(seen[..32].iter().all(|&byte| byte == 9) && seen[32..].iter().all(|&byte| byte == 0));
    assert_eq!(device.statistics().pinned, 1);
    // SAFETY: `seen` is not used any more.
    unsafe { device.free_pinned(pinned, 64) }.unwrap();
    assert_eq!(device.statistics().pinned, 0);
}
