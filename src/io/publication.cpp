#include "io/publication.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <unordered_set>

#include "files/file_descriptor.hpp"
#include "io/environment_error.hpp"
#include "io/file_comparison.hpp"
#include "io/sync_folder.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

std::string message_of(const fs::path& path, const std::system_error& error) {
  return "cannot write " + path.string() + ": " + error.code().message();
}

/// Whether a file is in the path of a folder, or a folder is at the path of the file.
bool is_name_collision(int error) { return error == ENOTDIR || error == EISDIR || error == EEXIST; }

/// Throws EnvironmentError or ItemError, depending on the error.
[[noreturn]] void fail(const fs::path& path, const std::system_error& error) {
  check_environment(error.code().value(), message_of(path, error));
  if (is_name_collision(error.code().value()))
    throw ItemError(FailureReason::output_collision,
                    message_of(path, error) + "; a file and a folder have the same name");
  throw ItemError(FailureReason::not_written, message_of(path, error));
}

std::unique_ptr<TemporaryFile> write_temporary(const fs::path& path,
                                               std::span<const std::span<const std::byte>> parts,
                                               TemporaryName name) {
  auto file = std::make_unique<TemporaryFile>(parent_folder(path), name);
  file->write(parts);
  return file;
}

}  // namespace

std::int64_t Publication::add(const fs::path& path, std::span<const std::byte> bytes,
                              std::optional<std::int64_t> mtime_ns, TemporaryName name) {
  return add(path, std::span(&bytes, 1), mtime_ns, name);
}

std::int64_t Publication::add(const fs::path& path,
                              std::span<const std::span<const std::byte>> parts,
                              std::optional<std::int64_t> mtime_ns, TemporaryName name) {
  try {
    is_published_ = false;
    std::unique_ptr<TemporaryFile> temporary;
    try {
      temporary = write_temporary(path, parts, name);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::no_such_file_or_directory) throw;
      make_folders(parent_folder(path));
      temporary = write_temporary(path, parts, name);
    }
    files_.push_back({std::move(temporary), path});
    return files_.back().temporary->fix_mtime(mtime_ns);
  } catch (const std::system_error& error) {
    fail(path, error);
  }
}

void Publication::add_empty(const fs::path& path, TemporaryName name) {
  add(path, std::span<const std::span<const std::byte>>(), {}, name);
}

void Publication::set_mtime(std::int64_t mtime_ns) {
  try {
    files_.back().temporary->fix_mtime(mtime_ns);
  } catch (const std::system_error& error) {
    fail(files_.back().path, error);
  }
}

void Publication::append(std::span<const std::byte> bytes) {
  try {
    files_.back().temporary->write(bytes);
  } catch (const std::system_error& error) {
    fail(files_.back().path, error);
  }
}

/// The steps of publish().
class PublicationGroup {
 public:
  PublicationGroup(std::span<Publication* const> publications, const PublishOptions& options)
      : publications_(publications), options_(options) {}

  /// Starts writeback of all files before it waits for the first.
  void sync_files() const {
    for_each_file([](TemporaryFile& file) { file.start_writeback(); });
    for_each_file([](TemporaryFile& file) { file.sync(); });
  }

  /// Some file systems report a failed write only here.
  void close_files() const {
    for_each_file([](TemporaryFile& file) { file.close(); });
  }

  void rename_files(const OnPublishFailure& on_publish_failure) {
    for (std::size_t i = 0; i < publications_.size(); ++i) {
      try {
        if (publications_[i]->files_.size() > 1) check_collisions(i);
        rename_files(i);
      } catch (const ItemError& error) {
        publications_[i]->clear();
        renamed_.push_back(publications_[i]);
        on_publish_failure(i, error);
      }
    }
  }

  void sync_folders() const {
    for (const fs::path& folder : folders_) sync_folder_and_ancestors(folder);
  }

  void mark_published() const {
    for (Publication* publication : renamed_) publication->is_published_ = true;
  }

 private:
  /// A failure here is an EnvironmentError: it does not depend on the image.
  template <class Step>
  void for_each_file(const Step& step) const {
    for (Publication* publication : publications_) {
      for (Publication::File& file : publication->files_) {
        try {
          step(*file.temporary);
        } catch (const std::system_error& error) {
          check_environment(error.code().value(), message_of(file.path, error));
          throw EnvironmentError(message_of(file.path, error));
        }
      }
    }
  }

  /// Checks all files before the first rename, so that all files of an image are published or none.
  void check_collisions(std::size_t index) const {
    if (!options_.resolve_collision) return;
    for (const Publication::File& file : publications_[index]->files_) {
      struct stat status {};
      if (::lstat(file.path.c_str(), &status) == 0) resolve_collision(index, file);
    }
  }

  void rename_files(std::size_t index) {
    Publication& publication = *publications_[index];
    publication.has_known_mtimes_ = true;
    for (Publication::File& file : publication.files_) {
      try {
        rename_file(index, file);
      } catch (const std::system_error& error) {
        fail(file.path, error);
      }
      publication.has_known_mtimes_ &= file.temporary->path().empty();
      folders_.insert(parent_folder(file.path));
    }
    publication.clear();
    renamed_.push_back(&publication);
  }

  /// A failure to name the file is an EnvironmentError or ItemError, as in rename_files().
  CollisionAction resolve_collision(std::size_t index, const Publication::File& file) const {
    try {
      file.temporary->ensure_name();
    } catch (const std::system_error& error) {
      fail(file.path, error);
    }
    return options_.resolve_collision(index, file.path, file.temporary->path());
  }

  void rename_file(std::size_t index, Publication::File& file) const {
    if (options_.resolve_collision) {
      if (file.temporary->rename_if_free(file.path)) return;
      if (resolve_collision(index, file) == CollisionAction::keep) return sync_existing(file.path);
    }
    file.temporary->rename_to(file.path);
  }

  /// The program that wrote the file may not have synced it.
  void sync_existing(const fs::path& path) const {
    if (!options_.durable) return;
    const files::FileDescriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file || !files::sync_descriptor(file))
      throw std::system_error(errno, std::generic_category(), "cannot sync");
  }

  const std::span<Publication* const> publications_;
  const PublishOptions& options_;
  std::vector<Publication*> renamed_;
  std::set<fs::path> folders_;  // folders with new entries
};

void publish(std::span<Publication* const> publications, const PublishOptions& options,
             const OnPublishFailure& on_publish_failure) {
  PublicationGroup group(publications, options);
  if (options.durable) group.sync_files();
  group.close_files();
  const auto finish = [&] {
    if (options.durable) group.sync_folders();
    group.mark_published();
  };
  try {
    group.rename_files(on_publish_failure);
  } catch (const EnvironmentError&) {
    finish();  // for the files renamed so far
    throw;
  }
  finish();
}

namespace {

void publish_one(const fs::path& path, std::span<const std::byte> bytes,
                 const PublishOptions& options) {
  Publication publication;
  Publication* const group[] = {&publication};
  publication.add(path, bytes);
  publish(group, options, [](std::size_t, const ItemError& error) { throw error; });
}

}  // namespace

bool can_write_files(const fs::path& folder) try {
  const std::vector<std::byte> megabyte(std::size_t(1) << 20, std::byte(1));
  Publication().add(folder / "check", megabyte, {}, TemporaryName::late);
  return true;
} catch (const EnvironmentError&) {
  return false;
} catch (const ItemError&) {
  return false;
}

void publish_file(const fs::path& path, std::span<const std::byte> bytes) {
  try {
    publish_one(path, bytes, {});
  } catch (const ItemError& error) {
    throw ItemError(FailureReason::not_written,
                    error.what());  // this is not an output, so there is no output collision
  }
}

void publish_new_file(const fs::path& path, std::span<const std::byte> bytes) {
  const auto resolve_collision = [](std::size_t, const fs::path& existing,
                                    const fs::path& temporary) {
    if (compare_files(existing, temporary) == FileComparison::same) return CollisionAction::keep;
    throw ItemError(FailureReason::output_collision,
                    text::printable(existing.native()) +
                        " already exists with different content and was not replaced");
  };
  publish_one(path, bytes, {.resolve_collision = resolve_collision});
}

}  // namespace eckart::io
