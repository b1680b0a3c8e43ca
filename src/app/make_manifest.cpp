#include "app/make_manifest.hpp"

#include <stdexcept>

#include "app/list_inputs.hpp"
#include "core/error.hpp"

namespace eckart::app {

ListedInputs make_manifest(const ManifestRequest& request,
                           const std::function<void(std::int64_t images)>& on_listed) {
  InputList list = list_inputs(request.sources, {}, on_listed);
  if (list.entries.empty())
    throw FatalError(ExitCode::no_input, "no images: there is nothing to split into shards");
  std::vector<std::size_t> ends;
  try {
    ends = io::split_into_shards(list.entries, request.plan);
  } catch (const std::invalid_argument& error) {
    throw FatalError(ExitCode::usage, error.what());
  }
  return {.manifest = io::write_manifest(request.manifest, list.inputs, list.entries, ends),
          .failed = std::move(list.failed),
          .ignored = list.ignored,
          .not_read = std::move(list.not_read)};
}

}  // namespace eckart::app
