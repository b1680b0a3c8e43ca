#include "io/archive_file.hpp"

#include <fcntl.h>

#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/file_comparison.hpp"
#include "io/input_file.hpp"
#include "io/open_archive.hpp"
#include "tar/dali_index.hpp"
#include "text/printable.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

namespace {

/// `index`: tar::dali_index() of the archive. Returns whether there is one.
bool publish_index(const fs::path& archive, const std::optional<std::string>& index) {
  if (index) {
    publish_file(index_path(archive), std::as_bytes(std::span(*index)));
  } else {
    std::error_code none;
    fs::remove(index_path(archive), none);  // of an archive that was here before
  }
  return index.has_value();
}

std::unique_ptr<tar::Writer> make_writer(const tar::OnBytes& on_bytes) {
  try {
    return tar::make_writer(on_bytes);
  } catch (const std::runtime_error& error) {  // the module cannot be loaded
    throw EnvironmentError("cannot write tar archives: " + std::string(error.what()));
  }
}

}  // namespace

void check_can_write_archives() {
  make_writer([](std::span<const std::byte>) {});
}

ArchiveFile::ArchiveFile(fs::path path) : path_(std::move(path)) {
  publication_.add_empty(path_);
  writer_ = make_writer([this](std::span<const std::byte> bytes) { publication_.append(bytes); });
}

void ArchiveFile::add(const std::string& name, std::span<const std::byte> bytes,
                      std::int64_t mtime_ns) {
  writer_->add(name, bytes, mtime_ns);
  ++files_;
  content_bytes_ += std::int64_t(bytes.size());
}

bool ArchiveFile::publish(bool overwrite) {
  writer_->finish();
  const std::optional<std::string> index = tar::dali_index(read_written().members());
  const auto resolve_collision = [&](std::size_t, const fs::path& existing,
                                     const fs::path& temporary) {
    if (compare_files(existing, temporary) == FileComparison::same) return CollisionAction::keep;
    if (!overwrite)
      throw FatalError(
          ExitCode::cannot_create,
          text::printable(existing.native()) + " exists with other content and is not replaced");
    std::error_code none;
    fs::remove(index_path(path_), none);  // an archive has never the index of another one
    return CollisionAction::replace;
  };
  Publication* const group[] = {&publication_};
  io::publish(group, {.resolve_collision = resolve_collision},
              [](std::size_t, const ItemError& error) { throw error; });
  return publish_index(path_, index);
}

/// Lists what was written. Whoever reads it later finds the same.
tar::Archive ArchiveFile::read_written() const {
  const InputFile written(publication_.temporary_path());
  tar::Archive archive(
      files::FileDescriptor(::fcntl(written.descriptor().get(), F_DUPFD_CLOEXEC, 0)));
  if (!archive.damage().empty() || std::int64_t(archive.members().size()) != files_)
    throw EnvironmentError("cannot read " + text::printable(path_.native()) +
                           " as it was written: " + archive.damage());
  return archive;
}

bool publish_index(const fs::path& archive) {
  return publish_index(archive, tar::dali_index(open_archive(archive)->archive.members()));
}

fs::path index_path(const fs::path& archive) { return fs::path(archive).replace_extension(".idx"); }

}  // namespace eckart::io
