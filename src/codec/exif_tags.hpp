#pragma once

#include <cstdint>

namespace eckart::codec {

/// Tags of entries of EXIF data and TIFF files. TIFF 6.0, section 8; CIPA DC-008 (EXIF 2.32), 4.6.
struct ExifTag {
  enum : std::uint32_t {
    kDescription = 0x010E,
    kMaker = 0x010F,
    kModel = 0x0110,
    kStripOffsets = 0x0111,
    kOrientation = 0x0112,
    kStripByteCounts = 0x0117,
    kXResolution = 0x011A,
    kYResolution = 0x011B,
    kResolutionUnit = 0x0128,
    kSoftware = 0x0131,
    kDate = 0x0132,
    kArtist = 0x013B,
    kHostComputer = 0x013C,
    kThumbnail = 0x0201,
    kThumbnailBytes = 0x0202,
    kRating = 0x4746,
    kCopyright = 0x8298,
    kExifDirectory = 0x8769,
    kGpsDirectory = 0x8825,
    kPixelCols = 0xA002,
    kPixelRows = 0xA003,
    kInteroperability = 0xA005,  ///< the offset of a directory
  };
};

}  // namespace eckart::codec
