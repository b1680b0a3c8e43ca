#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

/// DCMTK's list of codecs, which exists until the process ends.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:DcmCodecList::registerCodec\n";
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  fuzz::check_decode(io::codec_for(ImageFormat::dicom), std::as_bytes(std::span(data, size)));
  return 0;
}
