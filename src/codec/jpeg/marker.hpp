#pragma once

namespace eckart::codec::jpeg {

/// Codes of markers. ITU-T T.81, table B.1.
struct Marker {
  enum : int {
    kTem = 0x01,
    kSof0 = 0xC0,
    kSof1 = 0xC1,
    kSof2 = 0xC2,
    kDht = 0xC4,
    kJpg = 0xC8,
    kSof9 = 0xC9,
    kSof10 = 0xCA,
    kDac = 0xCC,
    kSof15 = 0xCF,
    kRst0 = 0xD0,
    kRst7 = 0xD7,
    kSoi = 0xD8,
    kEoi = 0xD9,
    kSos = 0xDA,
    kDqt = 0xDB,
    kDri = 0xDD,
    kApp0 = 0xE0,
    kApp1 = 0xE1,
    kApp2 = 0xE2,
    kApp14 = 0xEE,
    kApp15 = 0xEF,
    kSof55 = 0xF7,  // of JPEG-LS, ITU-T T.87
    kCom = 0xFE,
  };
};

/// Pixels of a row or a column: the limit of libjpeg. The format allows 65535.
inline constexpr int kMaxSide = 65500;

}  // namespace eckart::codec::jpeg
