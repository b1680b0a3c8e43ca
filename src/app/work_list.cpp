#include "app/work_list.hpp"

#include <spdlog/fmt/fmt.h>

#include <iterator>
#include <memory>

#include "app/list_inputs.hpp"
#include "app/output_settings.hpp"
#include "app/run.hpp"
#include "app/shard_ledger.hpp"
#include "core/error.hpp"
#include "hash/fnv1a.hpp"
#include "io/read_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The inputs that have no recorded output. Workers compare an output that exists without a record:
/// the worker that made it may have been killed before it published its ledger. Images in the
/// output folder are no inputs.
InputList list_unfinished(const WorkListRequest& request, WorkList& work,
                          const std::function<void(std::int64_t images)>& on_listed) {
  const fs::path output = absolute_path(request.scanned_output);
  RunRequest scan{.settings = request.settings,
                  .inputs = request.sources.inputs,
                  .files_from = request.sources.files_from,
                  .files_from_separator = request.sources.files_from_separator,
                  .output = output,
                  .report = {}};
  for (fs::path& input : scan.inputs) input = absolute_path(input);
  const std::unique_ptr<MergedLedger> merged = MergedLedger::of(output);
  if (merged) scan.settings.ledger = merged->choice();
  InputList list;
  const telemetry::RunReport report =
      Run(std::move(scan), Clock::now())
          .dry_run([&](const pipeline::WorkItem& item, std::span<const pipeline::OutputDecision>) {
            if (item.outcome.result == ItemResult::skipped) {
              ++work.done;
            } else if (item.outcome.ok() ||
                       item.outcome.reason == FailureReason::output_collision) {
              const std::string input = absolute_path(item.file).native();
              list.entries.push_back({input, item.relative.native(), item.file_state.size});
              if (list.entries.size() % 1000 == 0) on_listed(std::int64_t(list.entries.size()));
            } else {
              list.failed.emplace_back(item.file, item.outcome.detail);
            }
          });
  list.ignored = report.ignored;
  list.not_read = report.not_read;
  return list;
}

/// Appends messages for these images, which stay together if there are not too many.
void add_messages(std::span<const io::ManifestEntry> entries, const WorkListRequest& request,
                  const std::string& settings_hash, WorkList& work) {
  std::vector<broker::WorkImage> images;
  for (const io::ManifestEntry& entry : entries) {
    try {
      images.push_back({entry.input, entry.relative, io::state_of(fs::path(entry.input))});
    } catch (const ItemError& error) {
      work.failed.emplace_back(entry.input, error.what());
    }
  }
  work.images += std::int64_t(images.size());
  const std::size_t max_images = std::max(entries.size(), std::size_t(request.images_per_message));
  auto messages = broker::split_into_messages(std::move(images), settings_hash, max_images);
  std::ranges::move(messages, std::back_inserter(work.messages));
}

}  // namespace

std::string work_settings_hash(const settings::Settings& settings) {
  std::string all = settings.output.name + '\n';
  for (const std::string& text : output_settings(settings)) all += text + '\n';
  return fmt::format("{:016x}", hash::fnv1a(all));
}

WorkList list_work(const WorkListRequest& request,
                   const std::function<void(std::int64_t images)>& on_listed) {
  WorkList work;
  InputList list = request.scanned_output.empty() ? list_inputs(request.sources, {}, on_listed)
                                                  : list_unfinished(request, work, on_listed);
  work.failed = std::move(list.failed);
  work.ignored = list.ignored;
  work.not_read = std::move(list.not_read);
  if (list.entries.empty() && work.done == 0 && work.failed.empty())
    throw FatalError(ExitCode::no_input, "no images: there is nothing to publish");
  const std::string settings_hash = work_settings_hash(request.settings);
  std::size_t begin = 0;
  for (const std::size_t end :
       io::split_into_shards(list.entries, {.max_images = request.images_per_message})) {
    add_messages(std::span(list.entries).subspan(begin, end - begin), request, settings_hash, work);
    begin = end;
  }
  return work;
}

}  // namespace eckart::app
