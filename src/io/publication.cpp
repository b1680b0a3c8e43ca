#include "io/publication.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <unordered_set>

#include "io/descriptor.hpp"
#include "io/environment.hpp"
#include "io/sync_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

std::string message_of(const fs::path& path, const std::system_error& error) {
  return "cannot write " + path.string() + ": " + error.code().message();
}

/// Throws what the error is to the run.
[[noreturn]] void fail(const fs::path& path, const std::system_error& error) {
  check_environment(error.code().value(), message_of(path, error));
  throw ItemError(Reason::not_written, message_of(path, error));
}

std::unique_ptr<TemporaryFile> write_temporary(const fs::path& path,
                                               std::span<const std::byte> bytes) {
  auto file = std::make_unique<TemporaryFile>(folder_of(path));
  file->write(bytes);
  return file;
}

}  // namespace

void Publication::add(const fs::path& path, std::span<const std::byte> bytes) {
  try {
    published_ = false;
    std::unique_ptr<TemporaryFile> temporary;
    try {
      temporary = write_temporary(path, bytes);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::no_such_file_or_directory) throw;
      fs::create_directories(folder_of(path));
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
    each([](TemporaryFile& file) { file.start_writeback(); });
    each([](TemporaryFile& file) { file.sync(); });
  }

  /// Some file systems report a failed write only here.
  void close_files() const {
    each([](TemporaryFile& file) { file.close(); });
  }

  void rename_files(const OnUnpublished& on_unpublished) {
    for (std::size_t i = 0; i < publications_.size(); ++i) {
      try {
        rename_files(*publications_[i]);
      } catch (const ItemError& error) {
        publications_[i]->clear();
        renamed_.push_back(publications_[i]);
        on_unpublished(i, error);
      }
    }
  }

  void sync_folders() const {
    for (const fs::path& folder : folders_) sync_with_those_around(folder);
  }

  void mark_published() const {
    for (Publication* publication : renamed_) publication->published_ = true;
  }

 private:
  /// Whatever fails here, no image is to blame.
  template <class Step>
  void each(const Step& step) const {
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

  void rename_files(Publication& publication) {
    for (Publication::File& file : publication.files_) {
      try {
        file.temporary->rename_to(file.path);
      } catch (const std::system_error& error) {
        fail(file.path, error);
      }
      folders_.insert(folder_of(file.path));
    }
    publication.clear();
    renamed_.push_back(&publication);
  }

  const std::span<Publication* const> publications_;
  std::vector<Publication*> renamed_;
  std::set<fs::path> folders_;  // with new entries
};

void publish(std::span<Publication* const> publications, bool durable,
             const OnUnpublished& on_unpublished) {
  Group group(publications);
  if (durable) group.sync_files();
  group.close_files();
  const auto finish = [&] {
    if (durable) group.sync_folders();
    group.mark_published();
  };
  try {
    group.rename_files(on_unpublished);
  } catch (const EnvironmentError&) {
    finish();  // what came so far
    throw;
  }
  finish();
}

void publish_file(const fs::path& path, std::span<const std::byte> bytes) {
  Publication publication;
  publication.add(path, bytes);
  Publication* const group[] = {&publication};
  publish(group, true, [](std::size_t, const ItemError& error) { throw error; });
}

}  // namespace eckart::io
