#pragma once

#include <string>

#include "core/error.hpp"
#include "io/codec.hpp"

namespace eckart::io {

Codec png_codec(Decoder decoder);
Codec jpeg_codec(Decoder decoder);

// The codecs reject a file with these.
[[noreturn]] inline void fail_corrupt(const std::string& why) {
  throw ItemError(FailureReason::corrupt, why);
}
[[noreturn]] inline void fail_unsupported(const std::string& why) {
  throw ItemError(FailureReason::unsupported, why);
}

}  // namespace eckart::io
