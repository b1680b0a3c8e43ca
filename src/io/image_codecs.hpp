#pragma once

#include "io/codec.hpp"

namespace eckart::io {

Codec png_codec(Decoder decoder);
Codec jpeg_codec(Decoder decoder);

}  // namespace eckart::io
