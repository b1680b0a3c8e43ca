#include "app/read_picture.hpp"

#include <span>
#include <utility>

#include "codec/alpha.hpp"
#include "codec/codec.hpp"
#include "core/byte_buffer.hpp"
#include "core/error.hpp"
#include "core/stored_range.hpp"
#include "io/input_file.hpp"
#include "preparation/preparer.hpp"

namespace eckart::app {

InputPicture read_picture(const std::filesystem::path& file, const settings::Settings& settings) {
  const settings::InputSettings& input = settings.input;
  const ByteBuffer bytes = io::InputFile(file).read_all(settings.limits.file_mb);
  const codec::Codec& codec = codec::detect_codec(bytes, input.decoder);
  const codec::Header header = codec::admit(codec, bytes, settings.limits);
  preparation::Preparer preparer(settings.preparation());
  if (input.size.is_set())
    codec::check_shape(prepared_shape(header.shape, settings.preparation()), settings.limits,
                       "resized to ");
  if (header.factor_bytes > 0)
    throw ItemError(FailureReason::unsupported,
                    "factors have no pixels; eckart run makes images of them");
  Picture picture = codec.decode(bytes, settings.limits);
  codec::apply_alpha_policy(picture, input.alpha);
  picture = preparer.prepare(std::move(picture));
  clamp_to_stored_bits(picture);
  return {std::move(picture), codec.format, std::int64_t(bytes.size())};
}

}  // namespace eckart::app
