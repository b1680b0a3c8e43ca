#include "pipeline/write.hpp"

#include <utility>
#include <vector>

#include "core/error.hpp"

namespace eckart {

WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options) {
  return [&codec, options](WorkItem& item) {
    item.publication.clear();  // of an attempt before this one
    item.file_bytes.clear();
    for (std::size_t i = 0; i < item.outputs.size(); ++i) {
      const std::vector<std::byte> file = codec.encode(item.task.outputs[i], options);
      item.publication.add(item.outputs[i], file);
      item.file_bytes.push_back(std::int64_t(file.size()));
    }
  };
}

PublishItems make_publish(bool durable, CheckPlace check, RecordItems record) {
  return [durable, check = std::move(check), record = std::move(record)](std::span<ItemPtr> group) {
    if (check) check();
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
      if (record) record(published);
      for (WorkItem* item : published) item->recorded = true;
    };
    try {
      io::publish(publications, durable, [&](std::size_t index, const ItemError& error) {
        items[index]->outcome = Outcome::failed(Stage::write, error.reason(), error.what());
      });
    } catch (const EnvironmentError&) {
      record_published();
      throw;
    }
    if (check) check();
    record_published();
  };
}

}  // namespace eckart
