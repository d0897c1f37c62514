//! The model: what memory holds, as plain vectors, and which faults are due. It knows no device.

use super::program::Piece;

/// What the model can be told to believe wrongly, to see that it would be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Swapping two arrays of one length changes nothing.
    SwapIgnored,
    /// Forgetting a buffer frees it.
    ForgetFrees,
    /// A fill writes one element more than it was told to.
    FillsOneMore,
    /// A store out of range writes the last element.
    FaultWrites,
    /// A fault is returned twice.
    FaultTwice,
    /// A buffer that is dropped stays.
    DropKeeps,
}

impl Mistake {
    pub const ALL: [Self; 6] = [
        Self::SwapIgnored,
        Self::ForgetFrees,
        Self::FillsOneMore,
        Self::FaultWrites,
        Self::FaultTwice,
        Self::DropKeeps,
    ];
}

/// Columns and rows of a piece, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

/// An array: rows of elements; a linear one has one row.
#[derive(Debug, Clone)]
pub struct Contents {
    pub width: usize,
    pub height: usize,
    pub elements: Vec<u32>,
    /// Whether the elements are known: not at first, if unspecified, nor after a call that failed.
    pub known: bool,
    /// Bytes of its allocation.
    pub bytes: u64,
}

impl Contents {
    pub fn linear(length: usize, value: u32) -> Self {
        Self {
            width: length,
            height: 1,
            elements: vec![value; length],
            known: true,
            bytes: 4 * length as u64,
        }
    }

    pub fn pitched(width: usize, height: usize, bytes: u64) -> Self {
        Self { width, height, elements: vec![0; width * height], known: true, bytes }
    }

    /// The part that these numbers mean here.
    pub fn part(&self, piece: Piece) -> Part {
        self.shared_part(self, piece)
    }

    /// A part of a shape that `other` has too; in `other` it begins at [`start_in`](Self::start_in).
    pub fn shared_part(&self, other: &Self, piece: Piece) -> Part {
        let (columns, rows) = (self.width.min(other.width), self.height.min(other.height));
        if piece == Piece(0, 0, 0, 0) {
            return Part { x: 0, y: 0, width: columns, height: rows };
        }
        let width = usize::from(piece.0) * columns.div_ceil(100) % (columns + 1);
        let height = usize::from(piece.1) % (rows + 1);
        // A linear array has one row also when a piece of it is empty.
        let height = if self.height == 1 || other.height == 1 { 1.min(rows) } else { height };
        let part = Part { x: 0, y: 0, width, height };
        let (x, y) = self.start_in(part, piece);
        Part { x, y, ..part }
    }

    /// Where a part of this shape begins in this array.
    pub fn start_in(&self, part: Part, piece: Piece) -> (usize, usize) {
        (
            usize::from(piece.2) * self.width.div_ceil(100) % (self.width - part.width + 1),
            usize::from(piece.3) % (self.height - part.height + 1),
        )
    }

    fn rows(&self, part: Part) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let width = self.width;
        (part.y..part.y + part.height).map(move |y| y * width + part.x..y * width + part.x + part.width)
    }

    pub fn get(&self, part: Part) -> Vec<u32> {
        self.rows(part).flat_map(|row| self.elements[row].to_vec()).collect()
    }

    /// Writes a part; where all of the array was written, its contents are known again.
    pub fn set(&mut self, part: Part, elements: &[u32]) {
        for (row, from) in self.rows(part).zip(elements.chunks(part.width.max(1))) {
            self.elements[row].copy_from_slice(from);
        }
        if part.width == self.width && part.height == self.height {
            self.known = true;
        }
    }
}

/// The fault of a stream that nobody was told of yet, by its offset in bytes, which differs for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    None,
    /// The next wait returns it.
    Due(u64),
    /// A cleanup may have taken it.
    Perhaps(u64),
}

impl Fate {
    pub fn offset(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Due(offset) | Self::Perhaps(offset) => Some(offset),
        }
    }

    pub fn weaken(&mut self) {
        if let Self::Due(offset) = *self {
            *self = Self::Perhaps(offset);
        }
    }
}
