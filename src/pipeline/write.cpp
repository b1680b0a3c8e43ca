#include "pipeline/write.hpp"

#include "io/file.hpp"

namespace eckart {

WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options) {
  return [&codec, options](WorkItem& item) {
    item.output_bytes = 0;  // of an attempt before this one
    for (std::size_t i = 0; i < item.outputs.size(); ++i) {
      const std::vector<std::byte> file = codec.encode(item.task.outputs[i], options);
      io::publish_file(item.outputs[i], file);
      item.output_bytes += std::int64_t(file.size());
    }
  };
}

}  // namespace eckart
