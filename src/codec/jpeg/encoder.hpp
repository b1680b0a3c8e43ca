#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/jpeg/encoding_tables.hpp"
#include "codec/jpeg/layout.hpp"
#include "core/image.hpp"
#include "core/picture.hpp"

namespace eckart::codec::jpeg {

/// The layout of an image with this subsampling; nothing if this encoder does not support it: 8
/// bits, gray or RGB, at most two columns and rows of pixels for a sample of chroma.
std::optional<Layout> encoding_layout(const ImageShape& shape,
                                      const ChromaSubsampling& subsampling);

/// The entropy-coded data of a file: what is between its last header and its end-of-image marker.
struct EncodedScan {
  std::vector<std::byte> data;
  /// Of the pixels that a decoder shows, against `original`. Nothing if a value is so large that
  /// decoders may differ.
  std::optional<std::uint64_t> squared_error;
};

/// Encodes with the source that is compiled for the GPU: for tests. The data are those of libjpeg.
/// Both images have the shape of the layout.
EncodedScan encode_scan(const Image& pixels, const Image& original, const Layout& layout,
                        const EncodingTables& tables);

}  // namespace eckart::codec::jpeg
