#include "app/input_sources.hpp"

#include <cstddef>
#include <utility>

namespace eckart::app {

std::unique_ptr<io::Source> make_sources(const InputSources& sources,
                                         const std::filesystem::path& output) {
  if (sources.shard)
    return io::make_shard_source(sources.shard->file, sources.shard->manifest,
                                 std::size_t(sources.shard->index - 1));
  std::vector<std::unique_ptr<io::Source>> all;
  const io::OwnFolders own_folders({output});
  for (const auto& input : sources.inputs) all.push_back(io::make_source(input, own_folders));
  if (!sources.files_from.empty())
    all.push_back(io::make_list_source(sources.files_from, output, sources.files_from_separator));
  return io::chain_sources(std::move(all));
}

}  // namespace eckart::app
