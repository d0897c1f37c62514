use super::parse;
use crate::ptx::source::Source;

#[test]
fn corpus() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    for dir in std::fs::read_dir(root).unwrap() {
        let dir = dir.unwrap().path();
        if !dir.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(dir).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|e| e != "ptx") {
                continue;
            }
            let source = Source::new(
                file.display().to_string(),
                std::fs::read_to_string(&file).unwrap(),
            )
            .unwrap();
            if let Err(e) = parse(&source) {
                panic!("{}", e.render(&source));
            }
        }
    }
}
