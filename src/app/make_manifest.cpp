#include "app/make_manifest.hpp"

#include <optional>
#include <stdexcept>

#include "core/error.hpp"
#include "io/parent_links.hpp"
#include "io/read_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Other machines have other current folders.
fs::path absolute_path(const fs::path& path) {
  return fs::absolute(path.is_absolute() ? path : io::resolve_parent_links(path))
      .lexically_normal();
}

/// A file that is gone meanwhile has 0 bytes; the run of its shard reports it.
std::int64_t size_of(const fs::path& file) {
  try {
    return io::state_of(file).size;
  } catch (const ItemError&) {
    return 0;
  }
}

}  // namespace

ListedInputs make_manifest(const ManifestRequest& request,
                           const std::function<void(std::int64_t images)>& on_listed) {
  InputSources sources = request.sources;
  for (fs::path& input : sources.inputs) input = absolute_path(input);
  const std::unique_ptr<io::Source> source = make_sources(sources, {});
  ListedInputs listed;
  std::vector<io::ManifestEntry> entries;
  while (std::optional<io::SourceItem> item = source->next({})) {
    if (item->outcome.ok()) {
      const fs::path input = absolute_path(item->file);
      entries.push_back({input.native(), item->relative.native(), size_of(input)});
      if (entries.size() % 1000 == 0) on_listed(std::int64_t(entries.size()));
    } else {
      listed.failed.emplace_back(std::move(item->file), item->outcome.detail);
    }
  }
  listed.ignored = source->ignored_count();
  listed.not_read = source->unread_files().by_extension();
  if (entries.empty())
    throw FatalError(ExitCode::no_input, "no images: there is nothing to split into shards");
  std::vector<std::size_t> ends;
  try {
    ends = io::split_into_shards(entries, request.plan);
  } catch (const std::invalid_argument& error) {
    throw FatalError(ExitCode::usage, error.what());
  }
  listed.manifest = io::write_manifest(request.manifest, sources.inputs, entries, ends);
  return listed;
}

}  // namespace eckart::app
