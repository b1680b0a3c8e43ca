#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/dicom_header.hpp"

namespace eckart::codec {

/// Decodes a JPEG frame of 8 to 16 bits, lossy or lossless, with dcmtk: rows x cols samples, as
/// stored. Damage is refused only if the frame cannot be decoded. Throws ItemError: corrupt;
/// unsupported, if the program was built without dcmtk. Throws FatalError(unavailable) if the
/// module eckart_dcmtk cannot be loaded.
std::vector<std::uint16_t> decode_dicom_frame(std::span<const std::byte> frame,
                                              const DicomHeader& header);

}  // namespace eckart::codec
