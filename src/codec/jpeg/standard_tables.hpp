#pragma once

#include "codec/jpeg/tables.hpp"

namespace eckart::codec::jpeg {

/// The tables that libjpeg writes for a quality of 1 to 100, for 1 or 3 channels: the quantization
/// tables of ITU-T T.81, K.1, scaled and at most 255, and the Huffman tables of K.3.
TableSpecs standard_tables(int quality, int channels);

}  // namespace eckart::codec::jpeg
