#include "io/publication.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <system_error>

#include "io/descriptor.hpp"
#include "io/environment.hpp"
#include "io/file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// Throws what the error is to the run.
[[noreturn]] void fail(const fs::path& path, const std::system_error& error) {
  const std::string message = "cannot write " + path.string() + ": " + error.code().message();
  check_environment(error.code().value(), message);
  throw ItemError(Reason::not_written, message);
}

std::unique_ptr<TemporaryFile> write_temporary(const fs::path& path,
                                               std::span<const std::byte> bytes) {
  auto file = std::make_unique<TemporaryFile>(folder_of(path), path.filename());
  file->write(bytes);
  return file;
}

}  // namespace

void Publication::add(const fs::path& path, std::span<const std::byte> bytes) {
  try {
    std::unique_ptr<TemporaryFile> temporary;
    try {
      temporary = write_temporary(path, bytes);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::no_such_file_or_directory) throw;
      for (fs::path& folder : make_folders(folder_of(path)))
        changed_folders_.push_back(std::move(folder));
      temporary = write_temporary(path, bytes);
    }
    files_.push_back({std::move(temporary), path});
  } catch (const std::system_error& error) {
    fail(path, error);
  }
}

/// What publish() does, step by step.
class Group {
 public:
  explicit Group(std::span<Publication* const> publications) : publications_(publications) {}

  /// Each file goes its way before the first is waited for.
  void sync_files() const {
    each([](Publication::File& file) { file.temporary->start_writeback(); });
    each([](Publication::File& file) { file.temporary->sync(); });
  }

  /// Some file systems report a failed write only here.
  void close_files() const {
    each([](Publication::File& file) { file.temporary->close(); });
  }

  void rename_files(const OnUnpublished& on_unpublished) {
    for (std::size_t i = 0; i < publications_.size(); ++i) {
      try {
        rename_files(*publications_[i]);
      } catch (const ItemError& error) {
        publications_[i]->clear();
        on_unpublished(i, error);
      }
    }
  }

  /// No waiting for space mends what this could not do: the files are at their places already.
  void sync_folders() const {
    for (const fs::path& folder : folders_) {
      try {
        sync_folder(folder);
      } catch (const std::system_error& error) {
        throw EnvironmentError("cannot sync " + folder.string() + ": " + error.code().message());
      }
    }
  }

 private:
  template <class Step>
  void each(const Step& step) const {
    for (Publication* publication : publications_) {
      for (Publication::File& file : publication->files_) {
        try {
          step(file);
        } catch (const std::system_error& error) {
          fail(file.path, error);
        }
      }
    }
  }

  void rename_files(Publication& publication) {
    for (const fs::path& folder : publication.changed_folders_) folders_.insert(folder);
    for (Publication::File& file : publication.files_) {
      try {
        file.temporary->rename_to(file.path);
      } catch (const std::system_error& error) {
        fail(file.path, error);
      }
      folders_.insert(folder_of(file.path));
    }
    publication.clear();
  }

  const std::span<Publication* const> publications_;
  std::set<fs::path> folders_;  // with new entries
};

void publish(std::span<Publication* const> publications, bool durable,
             const OnUnpublished& on_unpublished) {
  Group group(publications);
  if (durable) group.sync_files();
  group.close_files();
  try {
    group.rename_files(on_unpublished);
  } catch (const EnvironmentError&) {
    if (durable) group.sync_folders();  // of what came so far
    throw;
  }
  if (durable) group.sync_folders();
}

void publish_file(const fs::path& path, std::span<const std::byte> bytes) {
  Publication publication;
  publication.add(path, bytes);
  Publication* const group[] = {&publication};
  publish(group, true, [](std::size_t, const ItemError& error) { throw error; });
}

std::vector<fs::path> make_folders(const fs::path& folder) {
  std::vector<fs::path> around;
  std::error_code unreadable;
  for (fs::path missing = folder; !missing.empty() && !fs::exists(missing, unreadable);
       missing = missing.parent_path()) {
    around.push_back(folder_of(missing));
  }
  fs::create_directories(folder);
  return around;
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that has nothing to bring anywhere.
  if (!descriptor || (::fsync(descriptor.get()) != 0 && errno != EINVAL))
    throw std::system_error(errno, std::generic_category(), "cannot sync a folder");
}

}  // namespace eckart::io
