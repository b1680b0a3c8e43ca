#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  fuzz::check_decode(codec::codec_for(ImageFormat::png), std::as_bytes(std::span(data, size)));
  return 0;
}
