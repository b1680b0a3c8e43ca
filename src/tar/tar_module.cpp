// The exported functions of libeckart_tar.so, which is loaded when a tar archive is to be read or
// written. libarchive links a dozen libraries, ICU among them. src/tar/archive.cpp and
// src/tar/writer.cpp load it.
#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "files/file_state.hpp"
#include "tar/entry.hpp"
#include "tar/writer.hpp"

namespace eckart::tar {
namespace {

/// Reads headers; the contents between them are skipped without reading them.
class FileReader {
 public:
  explicit FileReader(int descriptor)
      : descriptor_(descriptor), size_(std::max<off_t>(::lseek(descriptor, 0, SEEK_END), 0)) {}

  static la_ssize_t read(archive* archive, void* data, const void** bytes) {
    auto& self = *static_cast<FileReader*>(data);
    ssize_t count = 0;
    do {
      count = ::pread(self.descriptor_, self.buffer_.data(), self.buffer_.size(), self.position_);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      archive_set_error(archive, errno, "cannot be read: %s",
                        std::generic_category().message(errno).c_str());
      return ARCHIVE_FATAL;
    }
    self.position_ += count;
    *bytes = self.buffer_.data();
    return count;
  }

  static la_int64_t skip(archive*, void* data, la_int64_t request) {
    auto& self = *static_cast<FileReader*>(data);
    const la_int64_t skipped =
        std::min<la_int64_t>(request, std::max<off_t>(self.size_ - self.position_, 0));
    self.position_ += skipped;
    return skipped;
  }

 private:
  // The header of the next member is read with the end of the one before it.
  std::array<char, 4096> buffer_;
  const int descriptor_;
  const off_t size_;
  off_t position_ = 0;
};

using ReadArchive = std::unique_ptr<archive, int (*)(archive*)>;

std::string error_of(archive* archive) {
  const char* const text = archive_error_string(archive);
  return text ? text : "unknown error of libarchive";
}

Entry::Kind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK)
    return Entry::Kind::link;
  if (archive_entry_filetype(entry) == AE_IFDIR) return Entry::Kind::folder;
  return archive_entry_filetype(entry) == AE_IFREG ? Entry::Kind::file : Entry::Kind::other;
}

/// A name of a pax header is in UTF-8, which cannot be converted in the locale "C".
std::string name_of(archive_entry* entry) {
  if (const char* name = archive_entry_pathname(entry)) return name;
  const char* const name = archive_entry_pathname_utf8(entry);
  return name ? name : "";
}

Entry entry_of(archive* archive, archive_entry* entry) {
  return {.name = name_of(entry),
          .kind = kind_of(entry),
          .is_sparse = archive_entry_sparse_count(entry) > 0,
          .offset = archive_filter_bytes(archive, -1),
          .size = archive_entry_size(entry),
          .mtime_ns = files::in_ns({archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)})};
}

/// Calls `on_entry` for each entry, in order. Returns why the archive ends early; empty if it does
/// not.
std::string read_entries(int descriptor, const OnEntry& on_entry) {
  const ReadArchive reading(archive_read_new(), &archive_read_free);
  if (!reading) throw std::bad_alloc();
  archive* const archive = reading.get();
  FileReader file(descriptor);
  if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
      archive_read_open2(archive, &file, nullptr, &FileReader::read, &FileReader::skip, nullptr) !=
          ARCHIVE_OK)
    return error_of(archive);
  for (archive_entry* entry = nullptr;;) {
    const int result = archive_read_next_header(archive, &entry);
    if (result == ARCHIVE_EOF) return {};
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return error_of(archive);
    if (!on_entry(entry_of(archive, entry))) return {};
  }
}

class LibarchiveWriter : public Writer {
 public:
  explicit LibarchiveWriter(OnBytes on_bytes)
      : on_bytes_(std::move(on_bytes)), archive_(archive_write_new(), &archive_write_free) {
    if (!archive_) throw std::bad_alloc();
    archive* const archive = archive_.get();
    check(archive_write_set_format_pax_restricted(archive));
    check(archive_write_set_bytes_per_block(archive, 1 << 20));
    check(archive_write_set_bytes_in_last_block(archive, 1));  // it is not filled up
    check(archive_write_open(archive, this, nullptr, &LibarchiveWriter::write, nullptr));
  }

  void add(const std::string& name, std::span<const std::byte> bytes,
           std::int64_t mtime_ns) override {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         &archive_entry_free);
    if (!entry) throw std::bad_alloc();
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), la_int64_t(bytes.size()));
    constexpr std::int64_t kSecond = 1000000000;
    const std::int64_t seconds = mtime_ns / kSecond - (mtime_ns % kSecond < 0 ? 1 : 0);
    archive_entry_set_mtime(entry.get(), time_t(seconds), long(mtime_ns - seconds * kSecond));
    check(archive_write_header(archive_.get(), entry.get()));
    for (std::size_t written = 0; written < bytes.size();) {
      const la_ssize_t count =
          archive_write_data(archive_.get(), bytes.data() + written, bytes.size() - written);
      if (count <= 0) check(ARCHIVE_FATAL);
      written += std::size_t(count);
    }
  }

  void finish() override { check(archive_write_close(archive_.get())); }

 private:
  static la_ssize_t write(archive* archive, void* data, const void* bytes, std::size_t size) {
    auto& self = *static_cast<LibarchiveWriter*>(data);
    try {
      self.on_bytes_({static_cast<const std::byte*>(bytes), size});
      return la_ssize_t(size);
    } catch (...) {
      self.failure_ = std::current_exception();
      archive_set_error(archive, EIO, "the bytes were not taken");
      return -1;
    }
  }

  /// Throws what the function that takes the bytes threw, or std::runtime_error.
  void check(int result) {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    throw std::runtime_error("cannot write the tar archive: " + error_of(archive_.get()));
  }

  const OnBytes on_bytes_;
  std::exception_ptr failure_;
  const std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace
}  // namespace eckart::tar

ECKART_MODULE_EXPORT const char* eckart_tar_build_id() { return eckart::build_id(); }

ECKART_MODULE_EXPORT void eckart_read_tar_entries(int descriptor,
                                                  const eckart::tar::OnEntry& on_entry,
                                                  std::string& damage) {
  damage = eckart::tar::read_entries(descriptor, on_entry);
}

ECKART_MODULE_EXPORT eckart::tar::Writer* eckart_make_tar_writer(
    const eckart::tar::OnBytes& on_bytes) {
  return new eckart::tar::LibarchiveWriter(on_bytes);
}
