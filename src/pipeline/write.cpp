#include "pipeline/write.hpp"

#include <utility>

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
  return [durable, check = std::move(check),
          record = std::move(record)](std::span<const ItemPtr> group) {
    if (check) check();
    std::vector<io::Publication*> publications;
    for (const ItemPtr& item : group) publications.push_back(&item->publication);
    const auto mark_published = [&] {
      for (const ItemPtr& item : group) item->published = item->publication.published();
      if (record) record(group);
    };
    try {
      io::publish(publications, durable, [&](std::size_t index, const ItemError& error) {
        group[index]->outcome = Outcome::failed(Stage::write, error.reason(), error.what());
      });
    } catch (const EnvironmentError&) {
      mark_published();
      throw;
    }
    if (check) check();
    mark_published();
  };
}

}  // namespace eckart
