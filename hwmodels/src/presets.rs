//! Accelerators that are included in guardbit. To add one, write its file under `presets/` and add its line
//! below.

/// Preset: its name and its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Name, which can be used instead of a path and in `extends`.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// Registers the presets; the name is that of the file.
macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// All presets, in the order of the manual.
        pub const PRESETS: &[Preset] = &[
            $(Preset { name: $name, text: include_str!(concat!("../presets/", $name, ".yaml")) }),*
        ];
    };
}

presets! {
    "exact-int32-os",
    "fpga-int14-os",
    "fpga-int14-os-wrap",
    "fpga-int14-ws",
    "fpga-int14-tree",
    "inner14-outer24",
    "ethos-u55-256",
    "ethos-u55-32",
    "nvdla-small",
    "nvdla-large",
    "gemmini-16",
    "tpu-v1",
    "vta-default",
    "finn-mvau",
    "dsp48e2-int8x2",
    "eyeriss-v1",
    "esp32s3-qacc",
    "x86-avx2-vpmaddubsw",
    "fbgemm-acc16",
    "arm-smlal",
    "cmsis-nn-s16",
    "intel-gna",
    "hopper-wgmma-e4m3",
    "hopper-wgmma-e4m3-promoted",
    "hopper-wgmma-f16",
    "ada-mma-e4m3",
    "blackwell-f8f6f4",
    "blackwell-mxf8f6f4",
    "blackwell-mxf4",
    "blackwell-nvf4",
    "ampere-mma-f16",
    "volta-mma-f16",
    "cdna1-mfma-f16",
    "cdna2-mfma-f16",
    "cdna3-mfma-f16",
    "cdna3-mfma-fp8",
    "fpga-fp8-fixed",
}

/// Returns the preset with the given name.
pub fn preset(name: &str) -> Option<Preset> {
    PRESETS.iter().copied().find(|preset| preset.name == name)
}
