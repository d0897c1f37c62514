//! Reads the tables: text to cases. The format is described in `README.md`; what values mean is in `values`.

use crate::values::{Type, Value, parse_list, parse_value};

/// A register of a case.
#[derive(Clone, Debug)]
pub struct Register {
    pub name: String,
    pub ty: Type,
}

/// How far a float may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    Exact,
    Ulps(f64),
    Absolute(f64),
    Relative(f64),
}

/// One case of a table.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    /// Line of the `case`, from 1.
    pub line: usize,
    pub why: Vec<String>,
    pub target: String,
    pub inputs: Vec<Register>,
    pub outputs: Vec<Register>,
    pub module: Vec<String>,
    pub body: Vec<String>,
    pub threads: usize,
    pub blocks: usize,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// By register, then by thread.
    pub given: Vec<Vec<Value>>,
    pub expected: Vec<Vec<Value>>,
    pub memory: Vec<u32>,
    pub memory_after: Option<Vec<Value>>,
    pub tolerance: Tolerance,
    pub fault: Option<String>,
    /// The fault is one that only strict mode reports.
    pub strict_fault: bool,
    pub plain: bool,
    pub bug: Option<String>,
}

impl Case {
    fn new(name: &str, line: usize) -> Self {
        Self {
            name: name.to_owned(),
            line,
            why: Vec::new(),
            target: "sm_80".to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            module: Vec::new(),
            body: Vec::new(),
            threads: 0,
            blocks: 1,
            shared: 0,
            given: Vec::new(),
            expected: Vec::new(),
            memory: Vec::new(),
            memory_after: None,
            tolerance: Tolerance::Exact,
            fault: None,
            strict_fault: false,
            plain: false,
            bug: None,
        }
    }

    /// Threads of all blocks.
    pub fn all_threads(&self) -> usize {
        self.threads * self.blocks
    }

    /// Takes one line of the case.
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(text) = line.strip_prefix("||") {
            self.module.push(text.trim_end().to_owned());
            return Ok(());
        }
        if let Some(text) = line.strip_prefix('|') {
            self.body.push(text.trim_end().to_owned());
            return Ok(());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "why" => self.why.push(rest.to_owned()),
            "target" => self.target = rest.to_owned(),
            "in" => self.inputs = registers(rest)?,
            "out" => self.outputs = registers(rest)?,
            "threads" => self.threads = number(rest)?,
            "blocks" => self.blocks = number(rest)?,
            "shared" => self.shared = number(rest)?,
            "within" => self.tolerance = tolerance(rest)?,
            "fault" => self.fault = Some(rest.to_owned()),
            "strict" => {
                let text = rest.strip_prefix("fault").ok_or("`strict` is followed by `fault`")?;
                self.fault = Some(text.trim().to_owned());
                self.strict_fault = true;
            }
            "plain" => self.plain = true,
            // For the harness that runs the tables on a GPU.
            "host" => {}
            "bug" => self.bug = Some(rest.to_owned()),
            _ if rest.starts_with("= ") => self.given_list(word, &rest[2..])?,
            _ if rest.starts_with("-> ") && self.is_list_name(word) => {
                self.expected_list(word, &rest[3..])?
            }
            _ => self.row(line)?,
        }
        Ok(())
    }

    fn is_list_name(&self, word: &str) -> bool {
        word == "memory" || self.outputs.iter().any(|r| r.name == word)
    }

    fn given_list(&mut self, name: &str, list: &str) -> Result<(), String> {
        if name == "memory" {
            let values = parse_list(Type::from_name("b32")?, list)?;
            self.memory = values.iter().map(|v| v.bits().map(|b| b as u32)).collect::<Result<_, _>>()?;
            return Ok(());
        }
        let (index, ty) = position(&self.inputs, name)?;
        self.given.resize(self.inputs.len(), Vec::new());
        self.given[index].extend(parse_list(ty, list)?);
        Ok(())
    }

    fn expected_list(&mut self, name: &str, list: &str) -> Result<(), String> {
        if name == "memory" {
            let after = self.memory_after.get_or_insert_default();
            after.extend(parse_list(Type::from_name("b32")?, list)?);
            return Ok(());
        }
        let (index, ty) = position(&self.outputs, name)?;
        self.expected.resize(self.outputs.len(), Vec::new());
        self.expected[index].extend(parse_list(ty, list)?);
        Ok(())
    }

    /// `inputs -> outputs` of one thread.
    fn row(&mut self, line: &str) -> Result<(), String> {
        let (given, expected) = line.split_once("->").ok_or_else(|| format!("not understood: {line}"))?;
        if self.threads == 0 {
            self.threads = 1;
        } else {
            self.threads += 1;
        }
        self.given.resize(self.inputs.len(), Vec::new());
        self.expected.resize(self.outputs.len(), Vec::new());
        fill(&self.inputs, &mut self.given, given)?;
        fill(&self.outputs, &mut self.expected, expected)
    }

    /// What a case must have.
    fn check(&self) -> Result<(), String> {
        if self.why.is_empty() {
            return Err("there is no `why`".to_owned());
        }
        if self.body.is_empty() {
            return Err("there is no code".to_owned());
        }
        if self.threads == 0 {
            return Err("there are no rows and no `threads`".to_owned());
        }
        if self.expected.iter().all(Vec::is_empty) && self.memory_after.is_none() && self.fault.is_none() {
            return Err("nothing is expected".to_owned());
        }
        let lists = |registers: &[Register], lists: &[Vec<Value>], needed: bool| {
            for (index, register) in registers.iter().enumerate() {
                let len = lists.get(index).map_or(0, Vec::len);
                if len != self.all_threads() && (needed || len != 0) {
                    let threads = self.all_threads();
                    return Err(format!("{len} values of `{}` for {threads} threads", register.name));
                }
            }
            Ok(())
        };
        lists(&self.inputs, &self.given, true)?;
        lists(&self.outputs, &self.expected, self.fault.is_none())
    }
}

fn fill(registers: &[Register], columns: &mut [Vec<Value>], text: &str) -> Result<(), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != registers.len() {
        return Err(format!("{} values for {} registers: {text}", words.len(), registers.len()));
    }
    for ((register, column), word) in registers.iter().zip(columns).zip(words) {
        column.push(parse_value(register.ty, word)?);
    }
    Ok(())
}

fn position(registers: &[Register], name: &str) -> Result<(usize, Type), String> {
    let found = registers.iter().position(|register| register.name == name);
    found.map(|index| (index, registers[index].ty)).ok_or_else(|| format!("there is no register `{name}`"))
}

fn registers(text: &str) -> Result<Vec<Register>, String> {
    let register = |word: &str| {
        let (name, ty) = word.split_once(':').ok_or_else(|| format!("`{word}` has no type"))?;
        Ok(Register { name: name.to_owned(), ty: Type::from_name(ty)? })
    };
    text.split_whitespace().map(register).collect()
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    let (amount, unit) = text.split_once(' ').ok_or("a tolerance is an amount and a unit")?;
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is no number"));
    let amount = match amount.strip_prefix("2^") {
        Some(exponent) => number(exponent)?.exp2(),
        None => number(amount)?,
    };
    match unit {
        "ulp" => Ok(Tolerance::Ulps(amount)),
        "abs" => Ok(Tolerance::Absolute(amount)),
        "rel" => Ok(Tolerance::Relative(amount)),
        _ => Err(format!("`{unit}` is no unit of tolerance")),
    }
}

/// The cases of a table. Errors name the line.
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |message: String| format!("{file}:{}: {message}", index + 1);
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("case ") {
            cases.push(Case::new(name.trim(), index + 1));
            continue;
        }
        let case = cases.last_mut().ok_or_else(|| at("no `case` before this line".to_owned()))?;
        case.line(line).map_err(at)?;
    }
    for case in &cases {
        case.check().map_err(|message| format!("{file}:{}: {}: {message}", case.line, case.name))?;
    }
    Ok(cases)
}
