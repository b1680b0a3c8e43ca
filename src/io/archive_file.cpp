#include "io/archive_file.hpp"

#include <fcntl.h>

#include <optional>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "io/file_comparison.hpp"
#include "io/input_file.hpp"
#include "tar/archive.hpp"
#include "tar/dali_index.hpp"
#include "text/printable.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

ArchiveFile::ArchiveFile(fs::path path) : path_(std::move(path)) {
  publication_.add_empty(path_);
  writer_ =
      tar::make_writer([this](std::span<const std::byte> bytes) { publication_.append(bytes); });
}

void ArchiveFile::add(const std::string& name, std::span<const std::byte> bytes,
                      std::int64_t mtime_ns) {
  writer_->add(name, bytes, mtime_ns);
  ++files_;
  content_bytes_ += std::int64_t(bytes.size());
}

bool ArchiveFile::publish(bool overwrite) {
  writer_->finish();
  bool is_same = false;
  const auto resolve_collision = [&](std::size_t, const fs::path& existing,
                                     const fs::path& temporary) {
    is_same = compare_files(existing, temporary) == FileComparison::same;
    if (is_same || overwrite) return is_same ? CollisionAction::keep : CollisionAction::replace;
    throw FatalError(ExitCode::cannot_create, text::printable(existing.native()) +
                                                  " exists with other content and is not replaced");
  };
  if (files::entry_exists(path_)) resolve_collision(0, path_, publication_.temporary_path());
  const bool has_index = publish_index();
  Publication* const group[] = {&publication_};
  io::publish(group, {.resolve_collision = resolve_collision},
              [](std::size_t, const ItemError& error) { throw error; });
  return has_index;
}

/// Reads the archive for it: whoever reads this one later finds the same.
bool ArchiveFile::publish_index() const {
  const InputFile written(publication_.temporary_path());
  const tar::Archive archive(
      files::FileDescriptor(::fcntl(written.descriptor().get(), F_DUPFD_CLOEXEC, 0)));
  if (!archive.damage().empty() || std::int64_t(archive.members().size()) != files_)
    throw EnvironmentError("cannot read " + text::printable(path_.native()) +
                           " as it was written: " + archive.damage());
  const std::optional<std::string> index = tar::dali_index(archive.members());
  if (index) {
    publish_file(index_path(path_), std::as_bytes(std::span(*index)));
  } else {
    std::error_code none;
    fs::remove(index_path(path_), none);  // of an archive that was here before
  }
  return index.has_value();
}

fs::path index_path(const fs::path& archive) { return fs::path(archive).replace_extension(".idx"); }

}  // namespace eckart::io
