#include "io/turbojpeg_decoder.hpp"

#include <turbojpeg.h>

#include <memory>
#include <new>
#include <string>

#include "core/error.hpp"

namespace eckart::io {
namespace {

struct Destroy {
  void operator()(tjhandle handle) const { tjDestroy(handle); }
};
using Decompressor = std::unique_ptr<void, Destroy>;

/// One a thread: making it costs more than decoding a small image.
tjhandle decompressor() {
  thread_local const Decompressor mine(tjInitDecompress());
  if (!mine) throw std::bad_alloc();
  return mine.get();
}

}  // namespace

Image decode_with_turbojpeg(std::span<const std::byte> file, const ImageShape& announced) {
  constexpr int kStrict = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  const tjhandle handle = decompressor();
  Image image(announced);
  if (tjDecompress2(handle, reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                    reinterpret_cast<unsigned char*>(image.data()), announced.cols,
                    announced.cols * announced.channels, announced.rows,
                    announced.channels == 1 ? TJPF_GRAY : TJPF_RGB,
                    kStrict | TJFLAG_ACCURATEDCT) != 0) {
    throw ItemError(Reason::corrupt, std::string("does not decode: ") + tjGetErrorStr2(handle));
  }
  return image;
}

}  // namespace eckart::io
