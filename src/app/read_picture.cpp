#include "app/read_picture.hpp"

#include <span>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/stored_range.hpp"
#include "io/alpha.hpp"
#include "io/codec.hpp"
#include "io/input_file.hpp"
#include "preparation/preparer.hpp"

namespace eckart::app {

InputPicture read_picture(const std::filesystem::path& file, const settings::Settings& settings) {
  const settings::InputSettings& input = settings.input;
  const std::vector<std::byte> bytes = io::InputFile(file).read_all(settings.limits.file_mb);
  const io::Codec& codec = io::detect_codec(bytes, input.decoder);
  const io::Header header = io::admit(codec, bytes, settings.limits);
  preparation::Preparer preparer(settings.preparation());
  if (input.size.is_set())
    io::check_shape(prepared_shape(header.shape, settings.preparation()), settings.limits,
                    "resized to ");
  if (header.factor_bytes > 0)
    throw ItemError(FailureReason::unsupported,
                    "factors have no pixels; eckart run makes images of them");
  Picture picture = codec.decode(bytes, settings.limits);
  io::apply_alpha_policy(picture, input.alpha);
  picture = preparer.prepare(std::move(picture));
  clamp_to_stored_bits(picture);
  return {std::move(picture), codec.format, std::int64_t(bytes.size())};
}

}  // namespace eckart::app
