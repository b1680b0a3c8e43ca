#include "codec/tiff_file.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "codec/image_codecs.hpp"
#include "text/printable.hpp"

namespace eckart::codec {
namespace {

TiffFile& as_file(void* self) { return *static_cast<TiffFile*>(self); }

std::string format_message(const char* format, va_list values) {
  char text[256];
  std::vsnprintf(text, sizeof text, format, values);
  return text::printable_message(text);
}

/// libtiff begins a message with the name of the file, which is empty here.
std::string without_name(const std::string& message) {
  return message.starts_with(": ") ? message.substr(2) : message;
}

}  // namespace

TiffFile::TiffFile(FileBytes file) : file_(std::move(file)) {
  open("rD");  // D: the table of strips or tiles is read with the first of them
  check(tiff_ != nullptr);
}

TiffFile::TiffFile(bool is_big) : is_writing_(true) {
  open(is_big ? "w8" : "w");
  if (!tiff_) throw std::bad_alloc();
}

void TiffFile::open(const char* mode) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), take_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), take_warning, this);
  tiff_.reset(TIFFClientOpenExt(
      "", mode, this, read, write, seek, [](void*) { return 0; }, size, map,
      [](void*, void*, toff_t) {}, options.get()));
}

void TiffFile::check(bool ok) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  const bool is_refused = refuses_warnings_ && !warning_.empty();
  if (ok && !is_refused) {
    error_.clear();
    return;
  }
  const std::string message = without_name(error_.empty() ? warning_ : error_);
  if (message.find("ut of memory") != message.npos) throw std::bad_alloc();
  fail_corrupt("cannot be decoded by libtiff: " + (message.empty() ? "no reason given" : message));
}

void TiffFile::refuse_warnings() {
  warning_.clear();
  refuses_warnings_ = true;
}

std::vector<std::byte> TiffFile::finish() {
  tiff_.reset();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(written_);
}

tmsize_t TiffFile::read(void* self, void* to, tmsize_t size) {
  TiffFile& file = as_file(self);
  try {
    const auto wanted = std::size_t(size);
    const std::span<const std::byte> bytes =
        file.is_writing_ ? std::span<const std::byte>(file.written_)
                               .subspan(std::min(std::size_t(file.offset_), file.written_.size()))
                         : file.file_.at(std::size_t(file.offset_), wanted);
    const std::size_t count = std::min(wanted, bytes.size());
    std::copy_n(bytes.data(), count, static_cast<std::byte*>(to));
    file.offset_ += count;
    return tmsize_t(count);
  } catch (...) {
    file.failure_ = std::current_exception();
    return -1;
  }
}

tmsize_t TiffFile::write(void* self, void* from, tmsize_t size) {
  TiffFile& file = as_file(self);
  try {
    const auto begin = std::size_t(file.offset_), end = begin + std::size_t(size);
    if (end > file.written_.size()) file.written_.resize(end);
    std::copy_n(static_cast<const std::byte*>(from), size, file.written_.data() + begin);
    file.offset_ = end;
    return size;
  } catch (...) {
    file.failure_ = std::current_exception();
    return -1;
  }
}

toff_t TiffFile::seek(void* self, toff_t offset, int whence) {
  TiffFile& file = as_file(self);
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.offset_ : size(self);
  return file.offset_ = base + offset;
}

toff_t TiffFile::size(void* self) {
  const TiffFile& file = as_file(self);
  return file.is_writing_ ? file.written_.size() : file.file_.size();
}

/// Gives libtiff a file that is in memory without a copy.
int TiffFile::map(void* self, void** base, toff_t* size) {
  const TiffFile& file = as_file(self);
  const std::span<const std::byte> whole = file.file_.whole();
  if (file.is_writing_ || whole.empty()) return 0;
  *base = const_cast<std::byte*>(whole.data());
  *size = whole.size();
  return 1;
}

int TiffFile::take_error(TIFF*, void* self, const char*, const char* format, va_list values) {
  TiffFile& file = as_file(self);
  if (file.error_.empty()) file.error_ = format_message(format, values);
  return 1;
}

int TiffFile::take_warning(TIFF*, void* self, const char*, const char* format, va_list values) {
  TiffFile& file = as_file(self);
  if (file.warning_.empty()) file.warning_ = format_message(format, values);
  return 1;
}

}  // namespace eckart::codec
