#pragma once

#include <string>

#include "io/input_file.hpp"

namespace eckart::io {

/// Of the first size() bytes of an open file, in hexadecimal. Throws ItemError(unreadable), also if
/// there are fewer by now.
std::string sha256_of(const InputFile& file);

}  // namespace eckart::io
