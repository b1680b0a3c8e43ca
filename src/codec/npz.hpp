#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/file_bytes.hpp"

namespace eckart::codec {

/// An array to write to a .npz file, in C order and little endian.
struct NpyArray {
  std::string name;  ///< of the file in the archive, without ".npy"
  std::string
      dtype;  ///< as NumPy writes it: "<f4", "<f2", "<f8", "<i4", "<i8" or "<U" and a length
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};

/// Returns a .npz file, a ZIP archive without compression, that numpy.load() opens without pickle.
/// The same arrays give the same bytes. Throws ItemError(not_encodable) above 4 GiB.
std::vector<std::byte> write_npz(std::span<const NpyArray> arrays);

/// An array in a .npz file.
struct NpyEntry {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0, bytes = 0;  ///< of its .npy file in the archive
  std::size_t header_bytes = 0;       ///< before the numbers
  std::uint32_t crc = 0;              ///< of its .npy file
};

/// Whether the file begins as a .npz file does.
bool is_npz(std::span<const std::byte> start);

/// Lists the arrays of a file that write_npz() or numpy.savez() wrote, below 4 GiB. Reads and
/// checks only headers. Throws ItemError: corrupt; unsupported for compressed archives, other
/// types, Fortran order and more than 64 arrays.
std::vector<NpyEntry> list_npz(FileBytes& file);

/// Returns the numbers of an array, valid until the next use of `file`. Throws
/// ItemError(corrupt) if its checksum is wrong.
std::span<const std::byte> read_npy(FileBytes& file, const NpyEntry& entry);

}  // namespace eckart::codec
