//! Reads tables of launches such as `expected.txt`, for the library's own tests and for programs outside it. Whoever
//! includes this file has `Dim3` beside it. What is analysed and compared is theirs.

use super::Dim3;

/// What stands in a table for the argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Number(i128),
    Buffer { bytes: u64, align: u64 },
}

/// A launch of a kernel of the corpus, and what the reference says of its accesses.
#[derive(Clone, Debug)]
pub struct Shape {
    pub suite: String,
    /// The PTX, in `tests/corpus`.
    pub file: String,
    pub kernel: String,
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: u32,
    /// Parameter, offset in it in bytes, value.
    pub args: Vec<(usize, u32, Value)>,
    /// Line of an access, and `ok`, `unaligned`, `dead` or `open`.
    pub expected: Vec<(u32, String)>,
}

/// The launches of a table.
///
/// # Errors
/// The first line that cannot be read.
pub fn read(table: &str) -> Result<Vec<Shape>, String> {
    let mut shapes: Vec<Shape> = Vec::new();
    let lines = table.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    for (index, line) in lines {
        let wrong = || format!("line {} cannot be read: {line}", index + 1);
        let mut words = line.split_whitespace();
        match words.next() {
            Some("kernel") => shapes.push(launch(words).ok_or_else(wrong)?),
            Some(number) => {
                let site = number.parse().ok().zip(words.next());
                let (number, said) = site.ok_or_else(wrong)?;
                let shape = shapes.last_mut().ok_or_else(wrong)?;
                shape.expected.push((number, said.to_owned()));
            }
            None => {}
        }
    }
    Ok(shapes)
}

/// What follows the word `kernel`.
fn launch<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Shape> {
    Some(Shape {
        suite: words.next()?.to_owned(),
        file: words.next()?.to_owned(),
        kernel: words.next()?.to_owned(),
        grid: dim(words.next()?)?,
        block: dim(words.next()?)?,
        dynamic_shared: words.next()?.parse().ok()?,
        args: words.map(argument).collect::<Option<_>>()?,
        expected: Vec::new(),
    })
}

fn argument(text: &str) -> Option<(usize, u32, Value)> {
    let (place, value) = text.split_once('=')?;
    let (param, offset) = place.split_once('+').unwrap_or((place, "0"));
    let value = match value.strip_prefix("buffer:") {
        None => Value::Number(value.parse().ok()?),
        Some(buffer) => {
            let (bytes, align) = buffer.split_once(':')?;
            Value::Buffer { bytes: bytes.parse().ok()?, align: align.parse().ok()? }
        }
    };
    Some((param.parse().ok()?, offset.parse().ok()?, value))
}

fn dim(text: &str) -> Option<Dim3> {
    let mut axes = text.split(',').map(|axis| axis.parse().ok());
    let dim = Dim3::new(axes.next()??, axes.next()??, axes.next()??);
    axes.next().is_none().then_some(dim)
}
