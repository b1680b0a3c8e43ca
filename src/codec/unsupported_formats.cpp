// Signatures of formats that are not read. Sources: the specification of each format; ISO/IEC
// 23008-12 (HEIF) for brands of `ftyp` boxes.
#include "codec/unsupported_formats.hpp"

#include <algorithm>
#include <array>

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view name, bytes;
  std::size_t offset = 0;
};

// The first that matches counts.
constexpr auto kSignatures = std::to_array<Signature>({
    {"GIF", "GIF87a"},
    {"GIF", "GIF89a"},
    {"AVIF", "ftypavif", 4},
    {"AVIF", "ftypavis", 4},
    {"HEIC", "ftyphei", 4},  // heic, heix, heim, heis
    {"HEIC", "ftyphev", 4},  // hevc, hevx, hevm, hevs
    {"HEIF", "ftypmif1", 4},
    {"HEIF", "ftypmsf1", 4},
    {"CR3 (camera raw)", "ftypcrx ", 4},
    {"JPEG XL", "\xFF\x0A"},
    {"JPEG XL", "\0\0\0\x0CJXL \r\n\x87\n"sv},
    {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv},
    {"JPEG 2000", "\xFF\x4F\xFF\x51"},
    {"Photoshop (PSD)", "8BPS"},
    {"CR2 (camera raw)", kCr2Signature},
    {"ORF (camera raw)", "IIRO"},
    {"ORF (camera raw)", "IIRS"},
    {"ORF (camera raw)", "MMOR"},
    {"RW2 (camera raw)", "IIU\0"sv},
    {"RAF (camera raw)", "FUJIFILMCCD-RAW"},
    {"X3F (camera raw)", "FOVb"},
    {"PAM", "P7\n"},
    {"PFM", "PF\n"},
    {"PFM", "Pf\n"},
    {"OpenEXR", "\x76\x2F\x31\x01"},
    {"Radiance HDR", "#?RADIANCE"},
    {"ICO", "\0\0\1\0"sv},
    {"DDS", "DDS "},
    {"PDF", "%PDF-"},
    {"PostScript", "%!PS"},
    {"compressed with gzip", "\x1F\x8B"},
    {"compressed with Zstandard", "\x28\xB5\x2F\xFD"},
    {"compressed with xz",
     "\xFD"
     "7zXZ"},
    {"compressed with bzip2", "BZh"},
    {"ZIP", "PK\3\4"},
    {"tar archive; name one of its images, ARCHIVE.tar/NAME", "ustar", 257},
});

}  // namespace

std::string_view unsupported_format(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const Signature& signature : kSignatures) {
    if (text.size() >= signature.offset &&
        text.substr(signature.offset).starts_with(signature.bytes))
      return signature.name;
  }
  // An SVG may begin with an XML declaration and comments.
  if (text.starts_with('<') && text.find("<svg") != text.npos) return "SVG";
  return {};
}

}  // namespace eckart::codec
