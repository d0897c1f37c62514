//! What random inputs are made of: the PTX of real compilers, its instructions, and the words of the language.

/// PTX of three compilers and of the crate's own kernels.
const FILES: [&str; 10] = [
    include_str!("../corpus/nvcc/common_sm80.ptx"),
    include_str!("../corpus/nvcc/checks_sm90.ptx"),
    include_str!("../corpus/numba/hist.ptx"),
    include_str!("../corpus/numba/matmul.ptx"),
    include_str!("../corpus/numba/saxpy_dbg.ptx"),
    include_str!("../corpus/triton/add_80_0.ptx"),
    include_str!("../corpus/triton/layernorm_80_0.ptx"),
    include_str!("../corpus/triton/softmax_80_0.ptx"),
    include_str!("../../ptx/fill.ptx"),
    include_str!("../../ptx/reduce.ptx"),
];

/// Words whose exchange keeps most of the syntax and breaks most of the meaning.
const WORDS: &str = "u8 u32 s32 s64 f32 f64 b8 b16 b32 b64 b128 pred f16 f16x2 bf16 tf32 v2 v4 global shared param local \
     const generic cc sat ftz rn rz rzi approx wide hi lo sync aligned add sub mul mad fma div rem min max abs neg ld \
     st atom red cvt cvta setp set selp slct mov bra brx call ret exit bar barrier shfl vote match redux activemask \
     prmt bfe bfi bfind brev popc clz shl shr shf lop3 dp4a isspacep mbarrier cp async wait_group ldmatrix mma elect \
     fence membar nanosleep trap eq lt ltu and or xor inc dec cas exch uni idx bfly ballot any all 0 1 -1 31 32 255 \
     0f3F800000 0f7FC00000 0d7FF0000000000000 0xffffffffffffffff 9223372036854775808 %r1 %r2 %rd1 %rd2 %p1 %p2 %f1 \
     %fd1 %rs1 %tid.x %ctaid.x %ntid.x %laneid %clock64 _ WARP_SZ {%r1,%r2} [%rd1] [%rd2+4] [%r1-8] [k_param_0] !%p1 \
     @%p1 $L1 x y entry func reg align extern visible weak version target section loc file pragma branchtargets \
     callprototype maxntid minnctapersm";

/// Characters that end or begin something.
pub const PUNCTUATION: &[u8] = b"{}[]();,:.|!-+<>\"@%/*\\=&^~?_$ \n\t\0\x7F\xC3\xFF";

/// The corpus in pieces.
pub struct Corpus {
    /// Whole files.
    pub files: Vec<&'static str>,
    /// Each kernel with its file's head, where that is not long.
    pub kernels: Vec<String>,
    /// Lines of instructions.
    pub instructions: Vec<&'static str>,
    /// Words.
    pub words: Vec<&'static str>,
}

impl Corpus {
    pub fn new() -> Self {
        let mut kernels = Vec::new();
        let mut instructions = Vec::new();
        for text in FILES {
            if let Some(first) = text.find(".visible .entry") {
                let (head, bodies) = text.split_at(first);
                let short = bodies.split_inclusive("\n}\n").filter(|body| body.len() < 6000);
                kernels.extend(short.filter(|_| head.len() < 2000).map(|body| format!("{head}{body}")));
            }
            let lines = text.lines().map(str::trim);
            instructions.extend(lines.filter(|line| line.ends_with(';') && !line.starts_with('.')));
        }
        instructions.sort_unstable();
        instructions.dedup();
        Self { files: FILES.to_vec(), kernels, instructions, words: WORDS.split_whitespace().collect() }
    }
}
