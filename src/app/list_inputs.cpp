#include "app/list_inputs.hpp"

#include <memory>
#include <optional>

#include "core/error.hpp"
#include "io/parent_links.hpp"
#include "io/read_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// A file that is gone meanwhile has 0 bytes; who processes it reports it.
std::int64_t size_of(const fs::path& file) {
  try {
    return io::state_of(file).size;
  } catch (const ItemError&) {
    return 0;
  }
}

}  // namespace

fs::path absolute_path(const fs::path& path) {
  return fs::absolute(path.is_absolute() ? path : io::resolve_parent_links(path))
      .lexically_normal();
}

InputList list_inputs(InputSources sources, const fs::path& output,
                      const std::function<void(std::int64_t images)>& on_listed) {
  for (fs::path& input : sources.inputs) input = absolute_path(input);
  const std::unique_ptr<io::Source> source = make_sources(sources, output);
  InputList list;
  while (std::optional<io::SourceItem> item = source->next({})) {
    if (item->outcome.ok()) {
      const fs::path input = absolute_path(item->file);
      list.entries.push_back({input.native(), item->relative.native(), size_of(input)});
      if (list.entries.size() % 1000 == 0) on_listed(std::int64_t(list.entries.size()));
    } else {
      list.failed.emplace_back(std::move(item->file), item->outcome.detail);
    }
  }
  list.inputs = std::move(sources.inputs);
  list.ignored = source->ignored_count();
  list.not_read = source->unread_files().by_extension();
  return list;
}

}  // namespace eckart::app
