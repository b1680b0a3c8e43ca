#include "pipeline/write.hpp"

#include <utility>
#include <vector>

#include "core/error.hpp"

namespace eckart {

WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options) {
  return [&codec, options](WorkItem& item) {
    item.publication.clear();  // of an attempt before this one
    item.file_bytes.clear();
    item.file_mtimes_ns.clear();
    for (std::size_t i = 0; i < item.outputs.size(); ++i) {
      if (item.is_done_before(i)) {
        item.file_mtimes_ns.push_back(0);
        item.file_bytes.push_back(0);
        continue;
      }
      const std::vector<std::byte> file = codec.encode(item.task.outputs[i], options);
      item.file_mtimes_ns.push_back(item.publication.add(item.outputs[i], file));
      item.file_bytes.push_back(std::int64_t(file.size()));
    }
  };
}

PublishItems make_publish(bool durable, PublishHooks hooks) {
  return [durable, hooks = std::move(hooks)](std::span<ItemPtr> group) {
    if (hooks.check_place) hooks.check_place();
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
    if (hooks.announce) hooks.announce(items);
    io::PublishOptions options{.durable = durable};
    if (hooks.decide)
      options.decide = [&](std::size_t index, const auto& place, const auto& written) {
        return hooks.decide(*items[index], place, written);
      };
    try {
      io::publish(publications, options, [&](std::size_t index, const ItemError& error) {
        items[index]->outcome = Outcome::failed(Stage::write, error.reason(), error.what());
      });
    } catch (const EnvironmentError&) {
      record_published();
      throw;
    }
    if (hooks.check_place) hooks.check_place();
    record_published();
  };
}

}  // namespace eckart
