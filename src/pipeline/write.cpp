#include "pipeline/write.hpp"

#include <utility>
#include <vector>

#include "core/error.hpp"

namespace eckart {

WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options) {
  return [&codec, options](WorkItem& item) {
    item.publication.clear();  // of an attempt before this one
    item.output_bytes.clear();
    item.output_mtimes_ns.clear();
    for (std::size_t i = 0; i < item.outputs.size(); ++i) {
      if (item.is_output_skipped(i)) {
        item.output_mtimes_ns.push_back(0);
        item.output_bytes.push_back(0);
        continue;
      }
      const std::vector<std::byte> file = codec.encode(item.task.outputs[i], options);
      item.output_mtimes_ns.push_back(item.publication.add(item.outputs[i], file));
      item.output_bytes.push_back(std::int64_t(file.size()));
    }
  };
}

namespace {

/// The failure that is on its way tells more than one of the ledger here: the next start of a
/// service removes what stays.
void abandon_unpublished(std::vector<WorkItem*> items, const PublishHooks& hooks) try {
  if (hooks.check_in_place) hooks.check_in_place();  // else nothing is known of what stands there
  std::erase_if(items, [](const WorkItem* item) { return item->publication.published(); });
  hooks.abandon_intents(items);
} catch (const EnvironmentError&) {
} catch (const FatalError&) {
}

}  // namespace

PublishItems make_publish(bool durable, PublishHooks hooks) {
  return [durable, hooks = std::move(hooks)](std::span<ItemPtr> group) {
    if (hooks.check_in_place) hooks.check_in_place();
    std::vector<WorkItem*> items;  // those not published yet
    std::vector<io::Publication*> publications;
    for (const ItemPtr& item : group) {
      if (item->published) continue;
      items.push_back(item.get());
      publications.push_back(&item->publication);
    }
    const auto record_published = [&] {
      for (WorkItem* item : items) item->published = item->publication.published();
      std::vector<WorkItem*> published;
      for (const ItemPtr& item : group) {
        if (item->published) published.push_back(item.get());
      }
      if (hooks.record) hooks.record(published);
      for (WorkItem* item : published) item->recorded = true;
    };
    if (hooks.record_intents) hooks.record_intents(items);
    io::PublishOptions options{.durable = durable};
    if (hooks.resolve_collision)
      options.resolve_conflict = [&](std::size_t index, const auto& place, const auto& written) {
        return hooks.resolve_collision(*items[index], place, written);
      };
    try {
      io::publish(publications, options, [&](std::size_t index, const ItemError& error) {
        items[index]->outcome = Outcome::failed(Stage::write, error.reason(), error.what());
      });
    } catch (const EnvironmentError&) {
      if (hooks.abandon_intents) abandon_unpublished(items, hooks);
      record_published();
      throw;
    }
    if (hooks.check_in_place) hooks.check_in_place();
    record_published();
  };
}

}  // namespace eckart
