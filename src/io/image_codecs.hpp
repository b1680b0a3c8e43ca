#pragma once

#include "io/codec.hpp"

namespace eckart::io {

Codec png_codec();
Codec jpeg_codec();

}  // namespace eckart::io
