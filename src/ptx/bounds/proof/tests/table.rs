//! Every access of the corpus at usual shapes, site by site against the reference: equal or better.

use super::super::{SiteKind, Verdict};
use super::{shapes, sparse_contents};

/// `cargo test --lib bounds::proof::tests::table -- --nocapture` prints the table.
#[test]
fn verdicts_are_at_least_those_of_the_reference() {
    let mut worse = Vec::new();
    let mut totals: Vec<(String, usize, usize)> = Vec::new();
    for shape in shapes() {
        let kernel = shape.load();
        let (params, buffers) = kernel.arguments(&shape.args);
        let verdicts = kernel.analysis.prove(&shape.facts(&params, &buffers));
        let sites = kernel.analysis.sites().iter().zip(verdicts.all());
        let own: Vec<_> =
            sites.filter(|(site, _)| site.function == kernel.id && site.kind != SiteKind::Call).collect();
        let proved = own.iter().filter(|(_, verdict)| !matches!(verdict, Verdict::Open { .. })).count();
        println!("{:7} {:28} {proved}/{}", shape.suite, shape.kernel, own.len());
        match totals.iter_mut().find(|total| total.0 == shape.suite) {
            Some(total) => {
                total.1 += proved;
                total.2 += own.len();
            }
            None => totals.push((shape.suite.clone(), proved, own.len())),
        }
        for (line, expected) in &shape.expected {
            let found: Vec<_> = own.iter().filter(|(site, _)| site.line == *line).collect();
            assert!(!found.is_empty(), "{}: line {line} has no site", shape.kernel);
            for (_, verdict) in found {
                let is_worse = match verdict {
                    Verdict::Open { .. } => expected != "open",
                    Verdict::Proved { aligned, .. } => !aligned && matches!(&**expected, "ok" | "dead"),
                    Verdict::Dead => false,
                };
                if let Verdict::Open { reason } = verdict {
                    println!("        line {line}: {reason}");
                }
                if is_worse {
                    worse.push(format!("{} line {line}: {expected} became {verdict:?}", shape.kernel));
                }
            }
        }
    }
    totals.iter().for_each(|(suite, proved, all)| println!("{suite}: {proved}/{all}"));
    assert!(worse.is_empty(), "{}", worse.join("\n"));
    let proved: usize = totals.iter().map(|total| total.1).sum();
    assert!(proved >= 948, "{proved}");
}

#[test]
fn known_index_arrays_prove_the_sparse_product_whole() {
    let shape = shapes().into_iter().find(|shape| shape.kernel.contains("spmv")).unwrap();
    let kernel = shape.load();
    let (params, mut buffers) = kernel.arguments(&shape.args);
    assert!(!kernel.analysis.prove(&shape.facts(&params, &buffers)).all_proved());
    sparse_contents(&mut buffers);
    let verdicts = kernel.analysis.prove(&shape.facts(&params, &buffers));
    assert!(verdicts.all_proved(), "{verdicts:?}");
    // one column too many, and the gathers are open again
    if let Some(contents) = &mut buffers[1].contents {
        contents.max += 1;
    }
    assert!(!kernel.analysis.prove(&shape.facts(&params, &buffers)).all_proved());
}
