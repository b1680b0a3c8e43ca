#include "codec/dicom_frame.hpp"

#include <stdexcept>
#include <string>

#include "build_id/module.hpp"
#include "codec/image_codecs.hpp"
#include "core/error.hpp"

#ifdef ECKART_HAVE_DCMTK
#include <dcmtk/config/osconfig.h>
// After osconfig.h.
#include <dcmtk/dcmdata/dcuid.h>
#endif

namespace eckart::codec {
namespace {

/// Of src/codec/dcmtk_module.cpp: `error` says why the frame cannot be decoded.
using DecodeFrame = void (*)(std::span<const std::byte> frame, const DicomHeader& header,
                             std::vector<std::uint16_t>& samples, std::string& error);

DecodeFrame load_decode_frame() try {
  return reinterpret_cast<DecodeFrame>(load_function("eckart_dcmtk", "eckart_dcmtk_decode_frame"));
} catch (const std::runtime_error& error) {
#ifndef ECKART_HAVE_DCMTK
  fail_unsupported("is a compressed DICOM file, which this program was built without");
#endif
  throw FatalError(ExitCode::unavailable,
                   std::string("compressed DICOM files cannot be read: ") + error.what());
}

}  // namespace

std::vector<std::uint16_t> decode_dicom_frame(std::span<const std::byte> frame,
                                              const DicomHeader& header) {
  static const DecodeFrame decode_frame = load_decode_frame();
  std::vector<std::uint16_t> samples;
  std::string error;
  decode_frame(frame, header, samples, error);
  if (!error.empty()) fail_corrupt(error);
  return samples;
}

#ifdef ECKART_HAVE_DCMTK
std::string dcmtk_version() {
  return is_installed("eckart_dcmtk") ? OFFIS_DCMTK_VERSION_STRING : "";
}
#else
std::string dcmtk_version() { return {}; }
#endif

}  // namespace eckart::codec
