#pragma once

#include <tiffio.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "codec/file_bytes.hpp"

namespace eckart::codec {

/// A TIFF that libtiff reads from FileBytes or writes into memory. Messages of libtiff are kept
/// here, and reading errors become exceptions in check().
class TiffFile {
 public:
  /// Opens a file at its first page. Throws ItemError(corrupt), and as FileBytes::at().
  explicit TiffFile(FileBytes file);
  /// Begins a new file. `is_big`: BigTIFF, for files over 4 GiB. Throws std::bad_alloc.
  explicit TiffFile(bool is_big);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_.get(); }

  /// Throws if the call of libtiff that returned `ok` failed: ItemError(corrupt) with its message,
  /// the exception of FileBytes::at(), or std::bad_alloc.
  void check(bool ok);

  /// Forgets warnings. Until the next call, a warning counts as an error in check().
  void refuse_warnings();

  /// The file that was written. Call it once, at the end.
  std::vector<std::byte> finish();

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };

  void open(const char* mode);
  static tmsize_t read(void* self, void* to, tmsize_t size);
  static tmsize_t write(void* self, void* from, tmsize_t size);
  static toff_t seek(void* self, toff_t offset, int whence);
  static toff_t size(void* self);
  static int map(void* self, void** base, toff_t* size);
  static int take_error(TIFF*, void* self, const char* module, const char* format, va_list values);
  static int take_warning(TIFF*, void* self, const char* module, const char* format,
                          va_list values);

  FileBytes file_{std::span<const std::byte>()};
  std::vector<std::byte> written_;
  bool is_writing_ = false;
  toff_t offset_ = 0;
  std::exception_ptr failure_;  // thrown by FileBytes inside libtiff
  std::string error_, warning_;
  bool refuses_warnings_ = false;
  std::unique_ptr<TIFF, Close> tiff_;  // last, because closing uses the others
};

}  // namespace eckart::codec
