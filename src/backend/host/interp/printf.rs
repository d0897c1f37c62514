//! The formats of `vprintf`: C's conversions on arguments that lie in a buffer, each at a multiple of its size.

use super::access::Raise;

/// What the formatter needs from memory.
pub(super) enum Request {
    /// `size` bytes of the argument buffer.
    Number { offset: u64, size: usize },
    /// The string at this address.
    Text { address: u64 },
}

/// What it gets.
pub(super) enum Answer {
    Number(u64),
    Text(String),
}

/// One `%…` of a format.
#[derive(Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
}

struct Arguments<F> {
    next: u64,
    ask: F,
}

impl<F: FnMut(Request) -> Result<Answer, Box<Raise>>> Arguments<F> {
    fn number(&mut self, size: u64) -> Result<u64, Box<Raise>> {
        let offset = self.next.next_multiple_of(size);
        self.next = offset + size;
        match (self.ask)(Request::Number { offset, size: size as usize })? {
            Answer::Number(number) => Ok(number),
            Answer::Text(_) => Ok(0),
        }
    }

    fn text(&mut self) -> Result<String, Box<Raise>> {
        let address = self.number(8)?;
        match (self.ask)(Request::Text { address })? {
            Answer::Text(text) => Ok(text),
            Answer::Number(_) => Ok(String::new()),
        }
    }
}

/// The text that `format` makes of the arguments which `ask` reads.
pub(super) fn format(
    format: &str,
    ask: impl FnMut(Request) -> Result<Answer, Box<Raise>>,
) -> Result<String, Box<Raise>> {
    let mut arguments = Arguments { next: 0, ask };
    let mut out = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut conversion = Conversion::default();
        while let Some(flag) = rest.next_if(|c| "-0+ #".contains(*c)) {
            match flag {
                '-' => conversion.left = true,
                '0' => conversion.zero = true,
                '+' => conversion.plus = true,
                ' ' => conversion.space = true,
                _ => conversion.alternate = true,
            }
        }
        if rest.next_if_eq(&'*').is_some() {
            let width = arguments.number(4)? as u32 as i32;
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
        }
        while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
            conversion.width = (conversion.width * 10 + digit as usize).min(1 << 12);
            rest.next();
        }
        if rest.next_if_eq(&'.').is_some() {
            let mut precision = 0;
            if rest.next_if_eq(&'*').is_some() {
                precision = arguments.number(4)? as u32 as usize;
            }
            while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
                precision = precision * 10 + digit as usize;
                rest.next();
            }
            conversion.precision = Some(precision.min(1 << 12));
        }
        conversion.width = conversion.width.min(1 << 12);
        while let Some(length) = rest.next_if(|c| "hlLqjzt".contains(*c)) {
            conversion.wide |= "lLqjzt".contains(length);
        }
        match rest.next() {
            Some('%') => out.push('%'),
            Some(kind) => {
                let text = convert(&conversion, kind, &mut arguments)?;
                out.push_str(&padded(&conversion, text, kind));
            }
            None => out.push('%'),
        }
    }
    Ok(out)
}

fn convert<F: FnMut(Request) -> Result<Answer, Box<Raise>>>(
    c: &Conversion,
    kind: char,
    arguments: &mut Arguments<F>,
) -> Result<String, Box<Raise>> {
    let size = if c.wide { 8 } else { 4 };
    Ok(match kind {
        'd' | 'i' => {
            let bits = arguments.number(size)?;
            let number = if c.wide { bits as i64 } else { i64::from(bits as u32 as i32) };
            let digits = precise(number.unsigned_abs().to_string(), c.precision);
            format!("{}{digits}", sign(number < 0, c))
        }
        'u' => precise(arguments.number(size)?.to_string(), c.precision),
        'x' | 'X' | 'o' => {
            let number = arguments.number(size)?;
            let (digits, prefix) = match kind {
                'x' => (format!("{number:x}"), "0x"),
                'X' => (format!("{number:X}"), "0X"),
                _ => (format!("{number:o}"), "0"),
            };
            let prefix = if c.alternate && number != 0 { prefix } else { "" };
            format!("{prefix}{}", precise(digits, c.precision))
        }
        'c' => char::from(arguments.number(4)? as u8).to_string(),
        's' => {
            let text = arguments.text()?;
            match c.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        'p' => format!("{:#x}", arguments.number(8)?),
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
            let value = f64::from_bits(arguments.number(8)?);
            let text = real(value.abs(), kind.to_ascii_lowercase(), c);
            let text = format!("{}{text}", sign(value.is_sign_negative() && !value.is_nan(), c));
            if kind.is_ascii_uppercase() { text.to_uppercase() } else { text }
        }
        other => format!("%{other}"),
    })
}

fn sign(negative: bool, c: &Conversion) -> &'static str {
    match (negative, c.plus, c.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    }
}

fn precise(digits: String, precision: Option<usize>) -> String {
    match precision {
        Some(least) if digits.len() < least => "0".repeat(least - digits.len()) + &digits,
        _ => digits,
    }
}

/// A value that is not negative.
fn real(value: f64, kind: char, c: &Conversion) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return "inf".to_owned();
    }
    let precision = c.precision.unwrap_or(6);
    match kind {
        'f' => format!("{value:.precision$}"),
        'e' => scientific(value, precision),
        'g' => {
            let precision = precision.max(1);
            let exponent = scientific(value, precision - 1);
            let power: i32 = exponent.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
            let text = if power < -4 || power >= precision as i32 {
                exponent
            } else {
                format!("{value:.*}", (precision as i32 - 1 - power).max(0) as usize)
            };
            if c.alternate { text } else { trimmed(&text) }
        }
        // hexadecimal floats: sign and exponent of the bits themselves
        _ => {
            let bits = value.to_bits();
            let (exponent, fraction) = ((bits >> 52) as i64 & 0x7ff, bits & ((1 << 52) - 1));
            let digits = format!("{fraction:013x}");
            let digits = digits.trim_end_matches('0');
            let point = if digits.is_empty() { "" } else { "." };
            let power = if exponent == 0 { if fraction == 0 { 0 } else { -1022 } } else { exponent - 1023 };
            format!("0x{}{point}{digits}p{power:+}", u8::from(exponent != 0))
        }
    }
}

fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let power: i32 = power.parse().unwrap_or(0);
            format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        None => text,
    }
}

fn trimmed(text: &str) -> String {
    let (mantissa, power) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if !mantissa.contains('.') {
        return text.to_owned();
    }
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}{power}")
}

fn padded(c: &Conversion, text: String, kind: char) -> String {
    let missing = c.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    if c.left {
        return text + &" ".repeat(missing);
    }
    let numeric = !matches!(kind, 's' | 'c' | 'p');
    let finite = !text.ends_with("nan") && !text.ends_with("inf");
    if c.zero && numeric && finite && (c.precision.is_none() || "feEFgGaA".contains(kind)) {
        let signs = usize::from(text.starts_with(['-', '+', ' ']));
        let (sign, digits) = text.split_at(signs);
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    " ".repeat(missing) + &text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats arguments that lie in `buffer`, with one string at address 1.
    fn printed(text: &str, buffer: &[u8]) -> String {
        format(text, |request| {
            Ok(match request {
                Request::Number { offset, size } => {
                    let mut all = [0; 8];
                    all[..size].copy_from_slice(&buffer[offset as usize..][..size]);
                    Answer::Number(u64::from_le_bytes(all))
                }
                Request::Text { address } => Answer::Text(if address == 1 { "word" } else { "" }.into()),
            })
        })
        .unwrap()
    }

    #[test]
    fn arguments_are_aligned_to_their_size() {
        let mut buffer = vec![0; 32];
        buffer[..4].copy_from_slice(&(-7_i32).to_le_bytes());
        buffer[8..16].copy_from_slice(&2.5_f64.to_le_bytes());
        buffer[16..20].copy_from_slice(&255_u32.to_le_bytes());
        buffer[24..32].copy_from_slice(&1_u64.to_le_bytes());
        assert_eq!(printed("%d %f %#x %s%%\n", &buffer), "-7 2.500000 0xff word%\n");
    }

    #[test]
    fn widths_and_precisions() {
        let int = 42_u32.to_le_bytes();
        for (text, expected) in
            [("%5d|", "   42|"), ("%-5d|", "42   |"), ("%05d|", "00042|"), ("%+d", "+42"), ("%.4d", "0042")]
        {
            assert_eq!(printed(text, &int), expected);
        }
        let real = 1234.5_f64.to_le_bytes();
        for (text, expected) in [
            ("%.1f", "1234.5"),
            ("%e", "1.234500e+03"),
            ("%g", "1234.5"),
            ("%.2g", "1.2e+03"),
            ("%a", "0x1.34ap+10"),
        ] {
            assert_eq!(printed(text, &real), expected);
        }
    }
}
