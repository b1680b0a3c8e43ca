// What a user reads about a file that is refused: the reason and the whole message.

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "codec/factors_file.hpp"
#include "codec/npz.hpp"
#include "tests/unit/codec/bmp_maker.hpp"
#include "tests/unit/codec/dicom_maker.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"
#include "tests/unit/codec/tiff_maker.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::BmpMaker;
using test::Bytes;
using test::DicomMaker;
using test::failure_of;
using test::PngMaker;
using test::TiffMaker;
using test::to_bytes;

struct RefusedFile {
  Bytes file;
  std::string detail;
  FailureReason reason = FailureReason::corrupt;
};

constexpr FailureReason kUnsupported = FailureReason::unsupported;

void expect_refused(ImageFormat format, const std::vector<RefusedFile>& files) {
  for (const RefusedFile& refused : files) {
    const test::CaughtError error = failure_of([&] {
      admit(codec_for(format), refused.file, {});
      codec_for(format).decode(refused.file, {});
    });
    EXPECT_EQ(error.detail, refused.detail);
    EXPECT_EQ(error.reason, refused.reason) << refused.detail;
  }
}

Bytes without_last(Bytes file, std::size_t bytes) {
  file.resize(file.size() - bytes);
  return file;
}

Bytes with_changed(Bytes file, std::size_t at, int value) {
  file.at(at) = std::byte(value);
  return file;
}

TEST(CodecError, says_what_is_wrong_with_a_bmp) {
  const BmpMaker color = BmpMaker(1, 1, 24).pixels("1234"sv);
  const auto masked = [](const std::vector<std::uint32_t>& masks) {
    return BmpMaker(1, 1, 32).masks(masks).pixels("1234"sv).file();
  };
  expect_refused(
      ImageFormat::bmp,
      {{to_bytes("hello, this is no image"), "has no BMP signature"},
       {without_last(color.file(), 30), "ends in its header"},
       {BmpMaker(0, 1, 24).pixels("1234"sv).file(), "declares an invalid image size"},
       {BmpMaker(1, INT_MIN, 24).pixels("1234"sv).file(), "declares an invalid image size"},
       {masked({0xFF, 0xFF00, 0}), "has an empty color mask"},
       {masked({0xF0F, 0xF000, 0xF0000}), "has a color mask with a gap"},
       {masked({0x3FF, 0xFFC00, 0x3FF00000}), "has 10 bits per sample; at most 8 are read",
        kUnsupported},
       {BmpMaker(1, 1, 8).palette("\1\2\3\0"sv).pixels("\1\0\0\0"sv).file(),
        "has a color outside its palette"},
       {BmpMaker(1, 1, 1).palette("\1\2\3\0\4\5\6\0\7\x8\x9\0"sv).pixels("\0\0\0\0"sv).file(),
        "has a palette that is too long"},
       {with_changed(color.file(), 10, 53), "has pixels inside its header"},
       {BmpMaker(2, 2, 24).pixels("12345678"sv).file(), "truncated: the rows are incomplete"},
       {BmpMaker(1, 1, 8).compression(1).pixels("1234"sv).file(),
        "is run-length encoded; save it without compression", kUnsupported},
       {BmpMaker(1, 1, 4).compression(2).pixels("1234"sv).file(),
        "is run-length encoded; save it without compression", kUnsupported},
       {BmpMaker(1, 1, 24).compression(4).pixels("1234"sv).file(), "has compression 4",
        kUnsupported},
       {BmpMaker(1, 1, 24).masks({0xFF, 0xFF00, 0xFF0000}).pixels("1234"sv).file(),
        "has compression 3", kUnsupported},
       {BmpMaker(1, 1, 2).pixels("1234"sv).file(), "has 2 bits per pixel", kUnsupported}});
}

TEST(CodecError, says_what_is_wrong_with_a_pnm) {
  expect_refused(ImageFormat::pnm,
                 {{to_bytes("hello"), "has no PNM signature"},
                  {to_bytes("P5\n"), "ends in its header or its samples"},
                  {to_bytes("P5 1 1 x\n1"), "has a wrong number"},
                  {to_bytes("P5 -1 1 255\nx"), "has a wrong number"},
                  {to_bytes("P5 2147483648 1 255\nx"), "has a number that is too large"},
                  {to_bytes("P5 2147483647 1 255\nx"), "truncated: the samples are incomplete"},
                  {to_bytes("P5 0 1 255\nx"), "declares an invalid image size"},
                  {to_bytes("P5 1 0 255\nx"), "declares an invalid image size"},
                  {to_bytes("P5 1 1 0\nx"), "declares an invalid maximum value"},
                  {to_bytes("P5 1 1 65536\nxx"), "declares an invalid maximum value"},
                  {to_bytes("P5 2 1 255\nx"), "truncated: the samples are incomplete"},
                  {to_bytes("P5 1 1 100\n\x65"), "has a sample above its maximum value"},
                  {to_bytes("P2 1 1 100 101"), "has a sample above its maximum value"},
                  {to_bytes("P1 1 1 2"), "has a sample above its maximum value"}});
}

TEST(CodecError, says_what_is_wrong_with_a_png) {
  const auto gray = [] { return PngMaker(1, 1, 8, 0); };
  const auto pixels = [&] { return gray().pixels("\0\1"sv); };
  const Bytes whole = pixels().end();
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  const auto after_signature = [&](std::string_view bytes) {
    return to_bytes(std::string(kSignature) + std::string(bytes));
  };
  constexpr std::size_t kIend = 12, kCrcOfIhdr = 29;
  const std::string header("\0\0\0\1\0\0\0\1\x8\0\0\0\0", 13);
  expect_refused(
      ImageFormat::png,
      {{to_bytes("hello, hello"), "has no PNG signature"},
       {after_signature("\0\0\0\0tEXt\0\0\0\0"sv), "has no IHDR chunk"},
       {after_signature("\x80\0\0\0IHDR\0\0\0\0"sv), "has a chunk with an invalid size"},
       {after_signature("\0\0\0\0IH"sv), "truncated: no IEND chunk"},
       {PngMaker(0, 1, 8, 0).pixels("\0\1"sv).end(), "declares an invalid image size"},
       {PngMaker(1, 0, 8, 0).pixels("\0\1"sv).end(), "declares an invalid image size"},
       {PngMaker(1, 1, 3, 0).pixels("\0\1"sv).end(),
        "declares an invalid color type, bit depth or method"},
       {PngMaker(1, 1, 8, 0, 2).pixels("\0\1"sv).end(),
        "declares an invalid color type, bit depth or method"},
       {gray().end(), "has no IDAT chunk"},
       {gray().chunk("IHDR", header).pixels("\0\1"sv).end(), "has two IHDR chunks"},
       {pixels().chunk("IHDR", header).end(), "has two IHDR chunks"},
       {gray().chunk("XyZw", "what").pixels("\0\1"sv).end(), "has an unknown critical chunk"},
       {PngMaker(1, 1, 8, 3).chunk("PLTE", "abc").chunk("PLTE", "ABC").pixels("\0\0"sv).end(),
        "has two palettes"},
       {pixels().chunk("tEXt", "a\0b"sv).chunk("IDAT", "").end(),
        "has other chunks between its IDAT chunks"},
       {pixels().chunk("IEND", "x").bytes_so_far(), "has an IEND chunk that is not empty"},
       {pixels().bytes_so_far(), "truncated: no IEND chunk"},
       {without_last(whole, kIend + 1), "truncated: the file ends inside a chunk"},
       {with_changed(whole, kCrcOfIhdr, int(whole[kCrcOfIhdr]) ^ 1),
        "has a wrong CRC in the IHDR chunk"},
       {with_changed(whole, whole.size() - 1, 0), "has a wrong CRC in the IEND chunk"},
       {with_changed(whole, whole.size() - kIend - 1, int(whole[whole.size() - kIend - 1]) ^ 1),
        "cannot be decoded: an IDAT chunk has a wrong CRC"},
       {gray().chunk("IDAT", "\x78\1\1\2\0\xFD\xFF\0\7"sv).end(),
        "cannot be decoded: the compressed pixels are incomplete"},
       {PngMaker(1, 2, 8, 0).pixels("\0\1"sv).end(),
        "cannot be decoded: the pixel data is too short"},
       {gray().chunk("IDAT", "\x78\x20\0\0\0\1"sv).end(),
        "cannot be decoded: the compressed pixels require a preset dictionary"}});
}

TEST(CodecError, says_what_is_wrong_with_a_jpeg) {
  const Bytes whole = test::make_jpeg(test::gradient_image({16, 16, 1, Depth::u8}), {});
  const auto frame = std::size_t(test::find_marker(whole, 0xC0)),
             scan = std::size_t(test::find_marker(whole, 0xDA));
  constexpr std::size_t kLength = 3, kSampling = 11;  // from the marker
  Bytes no_scan(whole.begin(), whole.begin() + std::ptrdiff_t(scan));
  no_scan.insert(no_scan.end(), {std::byte(0xFF), std::byte(0xD9)});
  const auto with_stray = [&](std::size_t bytes) {
    return test::with_inserted(whole, test::find_marker(whole, 0xDB), std::string(bytes, '\0'));
  };
  constexpr std::size_t kMaxStray = std::size_t(32) << 20;
  expect_refused(
      ImageFormat::jpeg,
      {{to_bytes("hello"), "has no start-of-image marker"},
       {to_bytes("\xFF\xD8\xFF\xD9"sv), "has no frame header"},
       {to_bytes("\xFF\xD8\xFF\xDA\0\2"sv), "has no frame header"},
       {no_scan, "has no scan"},
       {to_bytes("\xFF\xD8\xFF\xE5\0\1"sv), "has a segment with an invalid size"},
       {to_bytes("\xFF\xD8\xFF\xE5"sv), "truncated: no end-of-image marker"},
       {to_bytes("\xFF\xD8\xFF\xC0\0\7\x8\0\1\0\1"sv), "has a frame header that is too short"},
       {to_bytes("\xFF\xD8\xFF\xC0\0\x0A\x8\0\1\0\1\1\1\x11"sv),
        "has a frame header that is too short"},
       {with_changed(whole, frame + kSampling, 0x10), "has invalid sampling factors"},
       {with_changed(whole, frame + kSampling, 0x51), "has invalid sampling factors"},
       {with_changed(whole, frame + 6, 0), "has no height in its header; re-save it first",
        kUnsupported},
       {with_changed(whole, frame + 8, 0), "declares an invalid image size"},
       {without_last(whole, 2), "truncated: no end-of-image marker"},
       {with_stray(kMaxStray + 1), "has more than 32 MiB of stray bytes before its pixels"}});
  ASSERT_EQ(int(whole[frame + kLength]), 11) << "the length of the frame header";
  EXPECT_NO_THROW(codec_for(ImageFormat::jpeg).decode(with_stray(kMaxStray), {}));
}

TEST(CodecError, says_what_is_wrong_with_a_tiff) {
  const auto tiff = [](int bits, int samples, int photometric) {
    return TiffMaker(1, 1, bits, samples, photometric).pixels("12345678901234567890"sv);
  };
  const auto floats = [&](int bits, int photometric = 1) {
    return tiff(bits, 1, photometric).set(TiffMaker::kSampleFormat, {3});
  };
  const std::string not_all_colors = " samples per pixel, of which not all are colors or alpha";
  const std::string no_floats =
      "has floating point samples of which 0 is white, or that are colors of a palette";
  expect_refused(
      ImageFormat::tiff,
      {{tiff(8, 4, 5).file(), "has CMYK colors; convert it to RGB first", kUnsupported},
       {tiff(8, 3, 8).file(), "has Lab colors; convert it to RGB first", kUnsupported},
       {tiff(8, 3, 9).file(), "has Lab colors; convert it to RGB first", kUnsupported},
       {tiff(8, 3, 6).file(), "has YCbCr samples; convert it to RGB first", kUnsupported},
       {tiff(8, 3, 999).file(), "has photometric interpretation 999", kUnsupported},
       {tiff(8, 1, 32803).file(), "DNG (camera raw)", kUnsupported},
       {tiff(8, 1, 34892).file(), "DNG (camera raw)", kUnsupported},
       {tiff(8, 1, 1).set(TiffMaker::kSubfileType, {1}).file(),
        "has a preview as its first page, as camera raw files have", kUnsupported},
       {tiff(12, 1, 1).file(), "has 12 bits per sample; convert it to 8 or 16 bits first",
        kUnsupported},
       {tiff(4, 3, 2).file(), "has 4 bits per sample; convert it to 8 or 16 bits first",
        kUnsupported},
       {floats(64).file(), "has 64-bit floating point samples; convert it to 32 bits first",
        kUnsupported},
       {floats(32, 0).file(), no_floats, kUnsupported},
       {tiff(16, 1, 1).set(TiffMaker::kSampleFormat, {2}).file(),
        "has 16-bit signed samples; convert it to unsigned 8 or 16 bits first", kUnsupported},
       {tiff(8, 1, 1).set(TiffMaker::kSampleFormat, {5}).file(),
        "has 8-bit unknown samples; convert it to unsigned 8 or 16 bits first", kUnsupported},
       {tiff(8, 1, 1).set(TiffMaker::kCompression, {34712}).file(),
        "has TIFF compression 34712; save it with LZW or Deflate", kUnsupported},
       {tiff(8, 5, 2).set(TiffMaker::kExtraSamples, {0, 0}).file(), "has 5" + not_all_colors,
        kUnsupported},
       {tiff(8, 2, 1).set(TiffMaker::kExtraSamples, {0}).file(), "has 2" + not_all_colors,
        kUnsupported},
       {tiff(4, 2, 1).set(TiffMaker::kExtraSamples, {2}).file(), "has 2" + not_all_colors,
        kUnsupported},
       {tiff(8, 1, 2).file(), "has too few samples per pixel"}});
}

TEST(CodecError, says_what_is_wrong_with_a_webp) {
  const Bytes whole =
      codec_for(OutputFormat::webp).encode(test::noise_image({4, 4, 3, Depth::u8}), {});
  Bytes damaged = whole;
  for (std::size_t i = 25; i < damaged.size(); ++i) damaged[i] = std::byte(0xFF);
  expect_refused(ImageFormat::webp,
                 {{to_bytes("hello, hello"), "has no WebP signature"},
                  {to_bytes("RIFF\x0C\0\0\0WEBPwhat\0\0\0\0"sv), "has a wrong header"},
                  {without_last(whole, 1), "truncated: the file is shorter than its header states"},
                  {damaged, "cannot be decoded by libwebp"},
                  {to_bytes("RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv),
                   "is an animation; extract one image first", kUnsupported}});
}

TEST(CodecError, says_what_is_wrong_with_a_dicom_file) {
  const DicomMaker plain = DicomMaker(8).pixels("12"sv);
  const auto number = [&](std::uint32_t tag, int value) {
    return DicomMaker(plain).number(tag, value).file();
  };
  const auto text = [&](std::uint32_t tag, const std::string& value) {
    return DicomMaker(plain).text(tag, value).file();
  };
  const Bytes whole = plain.file();
  const std::string only_monochrome = "; only MONOCHROME1 and MONOCHROME2 are read";
  std::string nested;
  for (int i = 0; i < 20; ++i) nested += "\x08\0\x40\x11SQ\0\0\xFF\xFF\xFF\xFF"sv;
  DicomMaker wrong_fragments = DicomMaker(8).syntax(".4.50").frame("JPEG");
  Bytes wrong_item = wrong_fragments.file();
  wrong_item[wrong_item.size() - 8 - 4 - 8] = std::byte(0);  // the tag of the last item
  expect_refused(
      ImageFormat::dicom,
      {{to_bytes(std::string(200, 'x')), "has no DICOM signature"},
       {without_last(whole, 1), "truncated: the pixels are incomplete"},
       {without_last(whole, 2 + 12), "truncated: ends in its header"},
       {number(DicomMaker::kRows, 2), "truncated: the pixels are incomplete"},
       {number(DicomMaker::kRows, 0), "declares an invalid image size"},
       {number(DicomMaker::kBitsStored, 0), "declares impossible bits"},
       {number(DicomMaker::kHighBit, 8), "declares impossible bits"},
       {number(DicomMaker::kHighBit, 6), "declares impossible bits"},
       {text(DicomMaker::kRows, ""), "has a number without a value"},
       {text(DicomMaker::kSlope, "wide"), "has 'wide' in place of a number"},
       {text(DicomMaker::kFrames, "20"), "has 20 frames; save each as a file of its own",
        kUnsupported},
       {number(DicomMaker::kSamples, 3), "has 3 samples per pixel, MONOCHROME2" + only_monochrome,
        kUnsupported},
       {text(DicomMaker::kPhotometric, "RGB"), "has 1 samples per pixel, RGB" + only_monochrome,
        kUnsupported},
       {text(DicomMaker::kPhotometric, ""),
        "has 1 samples per pixel, of unknown kind" + only_monochrome, kUnsupported},
       {number(DicomMaker::kBitsAllocated, 32), "has 32 bits per sample", kUnsupported},
       {DicomMaker(plain).syntax(".4.90").file(),
        "has the DICOM transfer syntax 1.2.840.10008.1.2.4.90; convert it to explicit little "
        "endian first",
        kUnsupported},
       {DicomMaker(plain).syntax(".4.50").file(), "has pixels that are not stored as it states"},
       {wrong_item, "has wrong fragments"},
       {DicomMaker(plain).raw(nested).file(), "has sequences in too many levels"}});
}

/// The arrays of a file of factors of 6 x 9 pixels, to change one of them.
class ChangedFactors {
 public:
  ChangedFactors() {
    const Bytes bytes = test::factors_file({6, 9, 1, Depth::u8}, 2);
    FileBytes file(bytes);
    for (const NpyEntry& entry : list_npz(file)) {
      const auto data = read_npy(file, entry);
      arrays_.push_back({entry.name, entry.dtype, entry.shape, {data.begin(), data.end()}});
    }
  }
  const std::vector<NpyArray>& arrays() const { return arrays_; }
  Bytes without(std::string_view name) const {
    std::vector<NpyArray> rest = arrays_;
    std::erase_if(rest, [&](const NpyArray& array) { return array.name == name; });
    return write_npz(rest);
  }
  template <class T>
  Bytes with(std::string_view name, const std::vector<T>& values, const std::string& dtype = "",
             std::optional<std::vector<std::int64_t>> shape = {}) const {
    std::vector<NpyArray> changed = arrays_;
    for (NpyArray& array : changed) {
      if (array.name != name) continue;
      const auto bytes = std::as_bytes(std::span(values));
      array.data.assign(bytes.begin(), bytes.end());
      if (!dtype.empty()) array.dtype = dtype;
      if (shape) array.shape = *shape;
    }
    return write_npz(changed);
  }
  Bytes with_text(std::string_view name, std::u32string text) const {
    return with(name, std::vector<char32_t>(text.begin(), text.end()),
                "<U" + std::to_string(text.size()));
  }

 private:
  std::vector<NpyArray> arrays_;
};

TEST(CodecError, says_what_is_wrong_with_factors) {
  const ChangedFactors changed;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using Ints = std::vector<std::int32_t>;
  using Doubles = std::vector<double>;
  std::vector<RefusedFile> files{
      {changed.with("eckart_factors", Ints{2}), "NPZ: factors of another version of eckart",
       kUnsupported},
      {changed.with_text("depth", U"uint9"),
       "NPZ: the array depth is not uint8, uint16 or float32"},
      {changed.with("depth", Doubles{1}, "<f8"), "NPZ: the array depth is no text"},
      {changed.with_text("color", U"gray"),
       "NPZ: the array color is not channels, luma, ycbcr or joint"},
      {changed.with_text("color", U"joint"), "NPZ: the array color is joint"},
      {changed.with("shape", Ints{0, 9, 1}), "NPZ: the array shape is no shape of an image"},
      {changed.with("shape", Ints{6, (1 << 24) + 1, 1}),
       "NPZ: the array shape is no shape of an image"},
      {changed.with("shape", Ints{6, 9, 2}), "NPZ: the array shape has neither 1 nor 3 channels"},
      {changed.with("shape", Ints{6, 9}, "", {{2}}),
       "NPZ: the array shape has another shape than expected"},
      {changed.with("rank", Ints{0}), "NPZ: the array rank has a number that is no rank"},
      {changed.with("rank", Ints{7}), "NPZ: the array rank has a number that is no rank"},
      {changed.with("rank", Ints{3}), "NPZ: the array s has another shape than expected"},
      {changed.with("s", std::vector<float>{2, 1}, "<f4"), "NPZ: the array s has the type <f4"},
      {changed.with("s", Doubles{2, -1}), "NPZ: the array s has a number that is no magnitude"},
      {changed.with("squared_norm", Doubles{kNan}),
       "NPZ: the array squared_norm has a number that is no magnitude"},
      {changed.with("U", std::vector<float>(12, 1.02F)),
       "NPZ: a vector in U or Vt has a number above 1, or none"},
      {changed.with("min", Doubles{256}), "NPZ: min, max or mean has a wrong number"},
      {changed.with("max", Doubles{kNan}), "NPZ: min, max or mean has a wrong number"},
      {changed.with("mean", Doubles{kNan}), "NPZ: min, max or mean has a wrong number"},
      {changed.without("eckart_factors"),
       "NPZ: not factors of eckart: it has no array eckart_factors", kUnsupported}};
  ASSERT_EQ(changed.arrays().size(), 12u);
  for (const NpyArray& array : changed.arrays()) {
    if (array.name != "eckart_factors")
      files.push_back(
          {changed.without(array.name), "NPZ: the array " + array.name + " is missing"});
  }
  expect_refused(ImageFormat::npz, files);
  for (const float largest : {-1.01F, 1.01F}) {
    const Bytes file = changed.with("U", std::vector<float>(12, largest));
    EXPECT_NO_THROW(codec_for(ImageFormat::npz).decode(file, {}));
  }
}

TEST(CodecError, says_what_is_wrong_with_an_archive) {
  const Bytes whole = test::factors_file({6, 9, 1, Depth::u8}, 2);
  const std::string text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const auto replaced = [&](std::string_view from, std::string_view to, bool is_last = false) {
    std::string changed = text;
    changed.replace(is_last ? changed.rfind(from) : changed.find(from), from.size(), to);
    return to_bytes(changed);
  };
  const std::size_t directory = text.find("PK\1\2"), end = whole.size() - 22;
  constexpr std::size_t kMethod = 10, kCount = 10;
  const std::string no_header = "NPZ: an array has no valid header";
  expect_refused(
      ImageFormat::npz,
      {{to_bytes("short"), "NPZ: the file is cut short"},
       {with_changed(whole, end, 0), "NPZ: the directory is missing"},
       {with_changed(whole, directory, 0), "NPZ: the directory is damaged"},
       {with_changed(whole, 0, 0), "NPZ: the directory is damaged"},
       {with_changed(whole, directory + kMethod, 8), "NPZ: the archive is compressed",
        kUnsupported},
       {with_changed(whole, end + kCount, 65), "NPZ: the archive has 65 arrays", kUnsupported},
       {replaced("Vt.npy", "Vt.txt", true), "NPZ: an entry is no array"},
       {replaced("\x93NUMPY", "NNUMPY"), "NPZ: an array has no NPY 1.0 header"},
       {replaced("'<i4'", "'<c8'"),
        "NPZ: an array has another type than float16, float32, float64, int32, int64 and text",
        kUnsupported},
       {replaced("False", "True "), "NPZ: an array is in Fortran order", kUnsupported},
       {replaced("'descr'", "'descX'"), "NPZ: an array has an unknown key in its header"},
       {replaced("{'descr'", "['descr'"), no_header},
       {replaced("(3,)", "(x,)"), "NPZ: an array has no valid shape"},
       {replaced("(3,)", "(4,)"), "NPZ: an array has another size than it says"}});
  Bytes wrong_sum = whole;
  wrong_sum[directory - 1] ^= std::byte(1);  // the last byte of the last array
  expect_refused(ImageFormat::npz, {{wrong_sum, "NPZ: the array Vt has a wrong checksum"}});
}

TEST(CodecError, says_what_a_format_cannot_hold) {
  const auto detail = [](OutputFormat format, const ImageShape& shape, bool has_alpha = false) {
    const test::CaughtError error =
        failure_of([&] { codec_for(format).check_encodable(shape, has_alpha); });
    EXPECT_TRUE(error.detail.empty() || error.reason == FailureReason::not_encodable);
    return error.detail;
  };
  const ImageShape wide{2, 2, 1, Depth::u16}, floats{2, 2, 1, Depth::f32};
  EXPECT_EQ(detail(OutputFormat::jpeg, wide),
            "JPEG does not support 16-bit samples; use output.format=png");
  EXPECT_EQ(detail(OutputFormat::webp, wide),
            "WebP does not support 16-bit samples; use output.format=png");
  EXPECT_EQ(detail(OutputFormat::png, floats),
            "PNG does not support 32-bit float samples; use output.format=tiff");
  EXPECT_EQ(detail(OutputFormat::pnm, floats),
            "PNM does not support 32-bit float samples; use output.format=tiff");
  EXPECT_EQ(detail(OutputFormat::pnm, {2, 2, 1, Depth::u8}, true),
            "PNM has no alpha channel; use input.alpha=white, or another output.format");
  EXPECT_EQ(detail(OutputFormat::jpeg, {2, 2, 1, Depth::u8}, true),
            "JPEG has no alpha channel; use input.alpha=white, or another output.format");
  EXPECT_EQ(detail(OutputFormat::jpeg, {65501, 1, 1, Depth::u8}),
            "JPEG allows at most 65500 pixels per side; use output.format=png");
  EXPECT_EQ(detail(OutputFormat::webp, {1, 16384, 1, Depth::u8}),
            "WebP allows at most 16383 pixels per side; use output.format=png");
  for (const OutputFormat format : {OutputFormat::png, OutputFormat::tiff, OutputFormat::pnm})
    EXPECT_EQ(detail(format, {70000, 70000, 3, Depth::u16}), "") << to_string(format);
  EXPECT_EQ(detail(OutputFormat::jpeg, {65500, 65500, 3, Depth::u8}), "");
  EXPECT_EQ(detail(OutputFormat::tiff, floats, true), "");
  EXPECT_EQ(detail(OutputFormat::png, wide, true), "");
}

TEST(CodecError, names_limits_with_their_values) {
  const auto detail = [](auto&& action) {
    const test::CaughtError error = failure_of(action);
    EXPECT_TRUE(error.detail.empty() || error.reason == FailureReason::too_large);
    return error.detail;
  };
  const ImageShape shape{20, 30, 1, Depth::u8};
  EXPECT_EQ(detail([&] { check_shape(shape, {.pixels = 599}, "resized to "); }),
            "resized to 20 x 30 pixels (rows x columns) exceeds limits.pixels = 599");
  EXPECT_EQ(detail([&] { check_shape(shape, {.side = 29}); }),
            "20 x 30 pixels (rows x columns) exceeds limits.side = 29");
  EXPECT_EQ(detail([&] { check_shape(shape, {.pixels = 600, .side = 30}); }), "");
  EXPECT_EQ(detail([&] {
              check_shape({65535, 65535, 1, Depth::u8}, {.pixels = 4294836224});
            }),
            "65535 x 65535 pixels (rows x columns) exceeds limits.pixels = 4294836224");
  EXPECT_EQ(detail([] { check_decode_memory((7 << 20) + 1, {.decode_mb = 7}); }),
            "decoding needs 8 MiB, which exceeds limits.decode_mb = 7");
  EXPECT_EQ(detail([] { check_decode_memory(7 << 20, {.decode_mb = 7}); }), "");
  const Codec& pnm = codec_for(ImageFormat::pnm);
  Bytes large = to_bytes("P5 1 1 255\nx");
  large.resize((1 << 20) + 1);
  EXPECT_EQ(detail([&] { admit(pnm, large, {.file_mb = 1}); }),
            "a file of 2 MiB exceeds limits.file_mb = 1");
  large.pop_back();
  EXPECT_EQ(detail([&] { admit(pnm, large, {.file_mb = 1}); }), "");
  EXPECT_EQ(detail([&] { admit(pnm, large, {.decode_mb = 1}); }),
            "decoding needs 2 MiB, which exceeds limits.decode_mb = 1")
      << "the file and the pixels";
}

TEST(CodecError, lists_the_formats_that_are_read) {
  const std::string supported = "; supported formats: png, jpeg, tiff, webp, pnm, bmp, dicom, npz";
  const auto detail = [](std::string_view text) {
    return failure_of([&] { detect_codec(to_bytes(text)); }).detail;
  };
  EXPECT_EQ(detail(""), "the file is empty");
  EXPECT_EQ(detail("hello"), "unknown file format" + supported);
  EXPECT_EQ(detail("P7\nWIDTH 1"), "PAM" + supported);
}

TEST(CodecError, names_each_known_format_that_is_not_read) {
  for (const auto& [name, start] : std::vector<std::pair<std::string, std::string_view>>{
           {"GIF", "GIF87a"},
           {"GIF", "GIF89a"},
           {"AVIF", "....ftypavif"},
           {"AVIF", "....ftypavis"},
           {"HEIC", "....ftypheix"},
           {"HEIC", "....ftyphevc"},
           {"HEIF", "....ftypmif1"},
           {"HEIF", "....ftypmsf1"},
           {"CR3 (camera raw)", "....ftypcrx "},
           {"JPEG XL", "\xFF\x0A"},
           {"JPEG XL", "\0\0\0\x0CJXL \r\n\x87\n"sv},
           {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv},
           {"JPEG 2000", "\xFF\x4F\xFF\x51"},
           {"Photoshop (PSD)", "8BPS"},
           {"CR2 (camera raw)", "II*\0\x10\0\0\0CR"sv},
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
           {"SVG", "<!-- <svg -->"}}) {
    const test::CaughtError error =
        failure_of([&, &text = start] { detect_codec(to_bytes(text)); });
    EXPECT_EQ(error.detail.substr(0, error.detail.find(';')), name);
    EXPECT_EQ(error.reason, kUnsupported) << name;
  }
  EXPECT_EQ(failure_of([] { detect_codec(to_bytes("text <svg")); }).reason,
            FailureReason::not_an_image);
}

}  // namespace
}  // namespace eckart::codec
