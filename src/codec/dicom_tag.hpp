#pragma once

#include <cstdint>

namespace eckart::codec {

/// Tags of DICOM elements: the group in the upper 16 bits, the number in the lower. DICOM PS3.6.
struct DicomTag {
  enum Value : std::uint32_t {
    kTransferSyntax = 0x00020010,
    kSamples = 0x00280002,
    kPhotometric = 0x00280004,
    kFrames = 0x00280008,
    kRows = 0x00280010,
    kCols = 0x00280011,
    kBitsAllocated = 0x00280100,
    kBitsStored = 0x00280101,
    kHighBit = 0x00280102,
    kPixelRepresentation = 0x00280103,  ///< 1: samples have a sign
    kWindowCenter = 0x00281050,
    kWindowWidth = 0x00281051,
    kIntercept = 0x00281052,
    kSlope = 0x00281053,
    kPixels = 0x7FE00010,
    kItem = 0xFFFEE000,
    kItemEnd = 0xFFFEE00D,
    kSequenceEnd = 0xFFFEE0DD,
  };
};

}  // namespace eckart::codec
