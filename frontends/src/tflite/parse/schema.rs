//! The tables of the TFLite schema that the reader needs, by field number.
//!
//! Source of field numbers, defaults and enum values: `schema.fbs`, version 3, as generated into
//! `schema_py_generated.py` of ai-edge-litert 2.3.0.

use super::flatbuffer::{Field, FlatbufferError, Table, Tables, Vector};

type Read<T> = Result<T, FlatbufferError>;

/// The root table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model<'a>(Table<'a>);

impl<'a> Model<'a> {
    /// The bytes from byte 4 on in every file.
    pub const IDENTIFIER: &'static [u8] = b"TFL3";
    /// The only version of the schema in use.
    pub const VERSION: u32 = 3;

    pub fn root(file: &'a [u8]) -> Read<Self> {
        Table::root(file, "Model").map(Self)
    }

    pub fn version(&self) -> Read<u32> {
        self.0.scalar(Field(0, "Model.version"), 0)
    }

    pub fn operator_code(&self, index: usize) -> Read<Option<OperatorCode<'a>>> {
        let codes = self.0.tables(Field(1, "Model.operator_codes"))?;
        Ok(codes.get(index)?.map(OperatorCode))
    }

    pub fn subgraphs(&self) -> Read<Tables<'a>> {
        self.0.tables(Field(2, "Model.subgraphs"))
    }

    pub fn buffer(&self, index: usize) -> Read<Option<Buffer<'a>>> {
        let buffers = self.0.tables(Field(4, "Model.buffers"))?;
        Ok(buffers.get(index)?.map(Buffer))
    }
}

/// The operator that an index refers to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperatorCode<'a>(Table<'a>);

impl<'a> OperatorCode<'a> {
    /// Returns the builtin operator. Numbers above 127 are only in the newer field; the greater number counts.
    pub fn builtin(&self) -> Read<i32> {
        let deprecated: i8 = self.0.scalar(Field(0, "OperatorCode.deprecated_builtin_code"), 0)?;
        let code: i32 = self.0.scalar(Field(3, "OperatorCode.builtin_code"), 0)?;
        Ok(code.max(deprecated.into()))
    }

    pub fn custom(&self) -> Read<&'a str> {
        self.0.string(Field(1, "OperatorCode.custom_code"))
    }
}

/// A network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubGraph<'a>(pub Table<'a>);

impl<'a> SubGraph<'a> {
    pub fn tensor(&self, index: usize) -> Read<Option<Tensor<'a>>> {
        let tensors = self.0.tables(Field(0, "SubGraph.tensors"))?;
        Ok(tensors.get(index)?.map(Tensor))
    }

    pub fn inputs(&self) -> Read<Option<Vector<'a, i32>>> {
        self.0.vector(Field(1, "SubGraph.inputs"))
    }

    pub fn outputs(&self) -> Read<Option<Vector<'a, i32>>> {
        self.0.vector(Field(2, "SubGraph.outputs"))
    }

    pub fn operators(&self) -> Read<Tables<'a>> {
        self.0.tables(Field(3, "SubGraph.operators"))
    }
}

/// A tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tensor<'a>(Table<'a>);

impl<'a> Tensor<'a> {
    pub fn shape(&self) -> Read<Option<Vector<'a, i32>>> {
        self.0.vector(Field(0, "Tensor.shape"))
    }

    pub fn element_type(&self) -> Read<i8> {
        self.0.scalar(Field(1, "Tensor.type"), 0)
    }

    pub fn buffer(&self) -> Read<u32> {
        self.0.scalar(Field(2, "Tensor.buffer"), 0)
    }

    pub fn name(&self) -> Read<&'a str> {
        self.0.string(Field(3, "Tensor.name"))
    }

    pub fn quantization(&self) -> Read<Option<QuantizationParameters<'a>>> {
        Ok(self.0.table(Field(4, "Tensor.quantization"))?.map(QuantizationParameters))
    }

    pub fn is_sparse(&self) -> Read<bool> {
        Ok(self.0.table(Field(6, "Tensor.sparsity"))?.is_some())
    }

    /// Returns the identifier of data in another file, or 0 if there is none.
    pub fn external_buffer(&self) -> Read<u32> {
        self.0.scalar(Field(10, "Tensor.external_buffer"), 0)
    }
}

/// Scales and zero points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuantizationParameters<'a>(Table<'a>);

impl<'a> QuantizationParameters<'a> {
    pub fn scale(&self) -> Read<Option<Vector<'a, f32>>> {
        self.0.vector(Field(2, "QuantizationParameters.scale"))
    }

    pub fn zero_point(&self) -> Read<Option<Vector<'a, i64>>> {
        self.0.vector(Field(3, "QuantizationParameters.zero_point"))
    }

    /// Returns a nonzero number if scale and zero point are not the complete quantization.
    pub fn details_type(&self) -> Read<u8> {
        self.0.scalar(Field(4, "QuantizationParameters.details_type"), 0)
    }

    pub fn quantized_dimension(&self) -> Read<i32> {
        self.0.scalar(Field(6, "QuantizationParameters.quantized_dimension"), 0)
    }
}

/// The data of a constant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffer<'a>(Table<'a>);

impl<'a> Buffer<'a> {
    pub fn data(&self) -> Read<Option<Vector<'a, u8>>> {
        self.0.vector(Field(0, "Buffer.data"))
    }

    /// Returns the position in the file of data outside of the flatbuffer. 0 and 1 mean that there is none.
    pub fn offset(&self) -> Read<u64> {
        self.0.scalar(Field(1, "Buffer.offset"), 0)
    }

    pub fn size(&self) -> Read<u64> {
        self.0.scalar(Field(2, "Buffer.size"), 0)
    }
}

/// One step of a network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operator<'a>(pub Table<'a>);

impl<'a> Operator<'a> {
    pub fn opcode_index(&self) -> Read<u32> {
        self.0.scalar(Field(0, "Operator.opcode_index"), 0)
    }

    pub fn inputs(&self) -> Read<Option<Vector<'a, i32>>> {
        self.0.vector(Field(1, "Operator.inputs"))
    }

    pub fn outputs(&self) -> Read<Option<Vector<'a, i32>>> {
        self.0.vector(Field(2, "Operator.outputs"))
    }

    /// Returns the number of the options among all kinds of options, 0 for none, and their table.
    pub fn options(&self) -> Read<(u8, Option<Table<'a>>)> {
        let number = self.0.scalar(Field(3, "Operator.builtin_options_type"), 0)?;
        let table = || self.0.table(Field(4, "Operator.builtin_options"));
        Ok((number, if number == 0 { None } else { table()? }))
    }
}
