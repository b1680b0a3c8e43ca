#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.hpp"

namespace eckart::codec::png {

/// Why inflate() does not inflate a stream. It is not an error: libdeflate or libspng decodes these
/// files, and its result counts. Kernels write this as well.
enum class Irregularity : std::uint32_t {
  none,
  header,        ///< not a zlib stream of deflate without a dictionary
  block,         ///< of the type that does not exist, or a stored one with a damaged size
  code_lengths,  ///< codes that are incomplete, oversubscribed or too many
  code,          ///< a code that its block does not have
  distance,      ///< a match that begins before the first byte
  data_ended,    ///< fewer bytes than needed
  data_left,     ///< bytes are left after the checksum
  too_short,     ///< fewer bytes than the rows have
  too_long,      ///< more bytes than the rows have
  checksum,      ///< another Adler-32
  filter,        ///< a row with a filter that does not exist
  work,          ///< many small blocks, or segments that begin where none of the guesses is
};

constexpr auto enum_names(Irregularity /*unused*/) {
  using enum Irregularity;
  return std::to_array<EnumName<Irregularity>>({
      {none, "none"},
      {header, "zlib header"},
      {block, "invalid block"},
      {code_lengths, "invalid code lengths"},
      {code, "invalid code"},
      {distance, "distance before the first byte"},
      {data_ended, "data ended early"},
      {data_left, "data left after the checksum"},
      {too_short, "too few rows"},
      {too_long, "too many rows"},
      {checksum, "wrong checksum"},
      {filter, "invalid filter"},
      {work, "too many blocks or wrong guesses"},
  });
}

}  // namespace eckart::codec::png
