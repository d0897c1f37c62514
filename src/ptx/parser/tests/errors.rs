//! What a person sees when a file is not PTX: the whole message, as it is printed.

use super::{HEADER, source};
use crate::ptx::parser::parse;

#[track_caller]
fn check(text: &str, expected: &str) {
    let source = source(text);
    let error = parse(&source).unwrap_err();
    assert_eq!(error.render(&source), expected.trim_matches('\n'));
}

#[track_caller]
fn check_items(items: &str, expected: &str) {
    check(&format!("{HEADER}{items}"), expected);
}

#[test]
fn an_empty_file() {
    check(
        "",
        r"
error: expected `.version`, found the end of the text
 --> test.ptx:1:1
  |
1 |
  | ^
  |
  = help: a PTX file begins with `.version`, `.target` and `.address_size`
",
    );
}

#[test]
fn a_file_without_a_version() {
    check(
        ".target sm_90\n",
        r"
error: expected `.version`, found `.target`
 --> test.ptx:1:1
  |
1 | .target sm_90
  | ^^^^^^^
  |
  = help: a PTX file begins with `.version`, `.target` and `.address_size`
",
    );
}

#[test]
fn a_version_without_a_dot() {
    check(
        ".version 9\n",
        r"
error: expected a version such as `9.0`, found `9`
 --> test.ptx:1:10
  |
1 | .version 9
  |          ^
",
    );
}

#[test]
fn a_semicolon_that_is_missing() {
    check_items(
        ".visible .entry f()\n{\n\tmov.u32 \t%r1, %r2\n\tadd.u32 \t%r1, %r2, 3;\n\tret;\n}\n",
        r"
error: expected `,` or `;`, found `add`
 --> test.ptx:6:19
  |
6 |     mov.u32     %r1, %r2
  |                         ^ expected `,` or `;`
",
    );
}

#[test]
fn a_block_that_is_not_closed() {
    check_items(
        ".visible .entry f()\n{\n\t{\n\tret;\n}\n",
        r"
error: expected `}`, found the end of the text
 --> test.ptx:8:2
  |
8 | }
  |  ^ expected `}`
  |
  = help: the `{` on line 5 is not closed
",
    );
}

#[test]
fn a_comma_that_is_missing_between_parameters() {
    check_items(
        ".entry f(.param .u32 a .param .u32 b) { ret; }",
        r"
error: expected `,` or `)`, found `.param`
 --> test.ptx:4:24
  |
4 | .entry f(.param .u32 a .param .u32 b) { ret; }
  |                        ^^^^^^
",
    );
}

#[test]
fn an_operand_that_is_missing() {
    check_items(
        ".entry f() { add.u32 %r1, ; }",
        r"
error: expected an operand, found `;`
 --> test.ptx:4:27
  |
4 | .entry f() { add.u32 %r1, ; }
  |                           ^
",
    );
}

#[test]
fn a_short_hexadecimal_float() {
    check_items(
        ".entry f() { mov.f32 %f1, 0f3F80; }",
        r"
error: `0f3F80` does not have its whole width
 --> test.ptx:4:27
  |
4 | .entry f() { mov.f32 %f1, 0f3F80; }
  |                           ^^^^^^
  |
  = help: `0f` takes exactly 8 hexadecimal digits, `0d` exactly 16
",
    );
}

#[test]
fn a_number_that_is_too_large() {
    check_items(
        ".entry f() { mov.b64 %rd1, 18446744073709551616; }",
        r"
error: `18446744073709551616` is not a number of at most 64 bits
 --> test.ptx:4:28
  |
4 | .entry f() { mov.b64 %rd1, 18446744073709551616; }
  |                            ^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_number_with_letters() {
    check_items(
        ".entry f() { mov.b64 %rd1, 12abc; }",
        r"
error: `12abc` is not a number
 --> test.ptx:4:28
  |
4 | .entry f() { mov.b64 %rd1, 12abc; }
  |                            ^^^^^
  |
  = help: numbers are `12`, `0x1F`, `017`, `0b101`, `1.5`, `0f3F800000`
",
    );
}

#[test]
fn an_address_with_two_registers() {
    check_items(
        ".entry f() { ld.global.u32 %r1, [%rd1+%rd2]; }",
        r"
error: expected a number of bytes, found `%rd2`
 --> test.ptx:4:39
  |
4 | .entry f() { ld.global.u32 %r1, [%rd1+%rd2]; }
  |                                       ^^^^
",
    );
}

#[test]
fn an_address_with_a_product() {
    check_items(
        ".entry f() { ld.global.u32 %r1, [%rd1*4]; }",
        r"
error: expected `+`, `,` or `]`, found `*`
 --> test.ptx:4:38
  |
4 | .entry f() { ld.global.u32 %r1, [%rd1*4]; }
  |                                      ^
",
    );
}

#[test]
fn a_type_that_is_none() {
    check_items(
        ".entry f() { .reg .b33 %r; }",
        r"
error: `.b33` is not a type
 --> test.ptx:4:19
  |
4 | .entry f() { .reg .b33 %r; }
  |                   ^^^^
",
    );
}

#[test]
fn a_declaration_without_a_type() {
    check_items(
        ".entry f() { .reg %r; }",
        r"
error: expected a type, such as `.b32`, found `%r`
 --> test.ptx:4:19
  |
4 | .entry f() { .reg %r; }
  |                   ^^
",
    );
}

#[test]
fn two_types() {
    check_items(
        ".global .b32 .f32 x;",
        r"
error: the type is `.b32` already, found `.f32`
 --> test.ptx:4:14
  |
4 | .global .b32 .f32 x;
  |              ^^^^
",
    );
}

#[test]
fn an_alignment_that_is_no_power_of_two() {
    check_items(
        ".global .align 3 .b8 x[4];",
        r"
error: the alignment 3 is not a power of two
 --> test.ptx:4:16
  |
4 | .global .align 3 .b8 x[4];
  |                ^
",
    );
}

#[test]
fn a_guard_without_an_instruction() {
    check_items(
        ".entry f() { @%p1 }",
        r"
error: expected an instruction, found `}`
 --> test.ptx:4:19
  |
4 | .entry f() { @%p1 }
  |                   ^
",
    );
}

#[test]
fn a_dot_without_a_word() {
    check_items(
        ".entry f() { add. u32 %r1, 1; }",
        r"
error: expected a word after the dot
 --> test.ptx:4:17
  |
4 | .entry f() { add. u32 %r1, 1; }
  |                 ^
",
    );
}

#[test]
fn a_string_that_does_not_end() {
    check_items(
        ".file 1 \"kernel.cu\n.entry f() { ret; }\n",
        r#"
error: the string does not end on its line
 --> test.ptx:4:9
  |
4 | .file 1 "kernel.cu
  |         ^^^^^^^^^^
"#,
    );
}

#[test]
fn a_comment_that_does_not_end() {
    check_items(
        ".entry f() { /* ret; }\n",
        r"
error: the comment is not closed
 --> test.ptx:4:14
  |
4 | .entry f() { /* ret; }
  |              ^^
  |
  = help: a comment that `/*` begins ends at the first `*/`
",
    );
}

#[test]
fn a_section_that_does_not_end() {
    check_items(
        ".section .debug_info\n{\n.b8 1\n",
        r"
error: this `{` is not closed
 --> test.ptx:5:1
  |
5 | {
  | ^
",
    );
}

#[test]
fn a_preprocessor_line() {
    check_items(
        "#include <cuda.h>\n",
        r"
error: the character `#` is not part of PTX
 --> test.ptx:4:1
  |
4 | #include <cuda.h>
  | ^
  |
  = help: run a file with preprocessor lines through `cpp -P` first
",
    );
}

#[test]
fn a_character_outside_of_ascii() {
    check_items(
        ".entry f() { mov.b32 größe, 1; }",
        r"
error: the character `ö` is not part of PTX
 --> test.ptx:4:24
  |
4 | .entry f() { mov.b32 größe, 1; }
  |                        ^
",
    );
}

#[test]
fn an_invisible_character() {
    check_items(
        ".entry f() { ret;\0 }",
        r"
error: the character `\0` is not part of PTX
 --> test.ptx:4:18
  |
4 | .entry f() { ret;␀ }
  |                  ^
",
    );
}

#[test]
fn an_unknown_directive_at_the_end() {
    check_items(
        ".frobnicate 1, 2\n",
        r"
error: the directive `.frobnicate` is not known
 --> test.ptx:4:1
  |
4 | .frobnicate 1, 2
  | ^^^^^^^^^^^
",
    );
}

#[test]
fn half_of_an_inlined_location() {
    check_items(
        ".entry f() { .loc 1 2 3, inlined_at 1 2 3\nret; }",
        r"
error: `function_name` and `inlined_at` go together
 --> test.ptx:4:14
  |
4 | .entry f() { .loc 1 2 3, inlined_at 1 2 3
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn an_address_size_that_is_none() {
    check(
        ".version 9.0\n.target sm_90\n.address_size 16\n",
        r"
error: the address size is 32 or 64, found 16
 --> test.ptx:3:15
  |
3 | .address_size 16
  |               ^^
",
    );
}

#[test]
fn a_second_version() {
    check_items(
        ".version 8.0\n",
        r"
error: `.version` stands only once, at the beginning
 --> test.ptx:4:1
  |
4 | .version 8.0
  | ^^^^^^^^
",
    );
}

#[test]
fn linkage_of_nothing() {
    check_items(
        ".visible .file 1 \"a.cu\"\n",
        r#"
error: expected `.entry`, `.func` or a state space, found `.file`
 --> test.ptx:4:10
  |
4 | .visible .file 1 "a.cu"
  |          ^^^^^
"#,
    );
}

#[test]
fn a_long_token_is_shortened() {
    check(
        "\"long long long long long long long long long long long long long long long \"\n",
        r#"
error: expected `.version`, found `"long long long long long long long long…`
 --> test.ptx:1:1
  |
1 | "long long long long long long long long long long long long long long long "
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: a PTX file begins with `.version`, `.target` and `.address_size`
"#,
    );
}

#[test]
fn a_negative_offset_without_a_plus() {
    check_items(
        ".entry f() { ld.global.u32 %r1, [%rd1-8]; }",
        r"
error: expected `+`, found `-`
 --> test.ptx:4:38
  |
4 | .entry f() { ld.global.u32 %r1, [%rd1-8]; }
  |                                      ^
  |
  = help: PTX writes a negative offset as `+-8`
",
    );
}
