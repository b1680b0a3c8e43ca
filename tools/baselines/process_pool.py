#!/usr/bin/env python3
"""Baseline: a process pool with Pillow or OpenCV, and NumPy or PyTorch, from files to files.

Every image is read and decoded, approximated at rank k in each channel, rounded to 8 bits, encoded
and written, as `eckart run` does it, but without sync, ledger and checks.

  numpy   each process does all steps of its images, with one BLAS thread
  torch   the processes decode into shared, pinned memory and encode from it; batches of images of
          the same size are computed on the GPU meanwhile

--method auto times all methods on the first image (on the GPU: on 32 of it), and takes the fastest whose loss is at most
0.01 dB. Sizes of images are read before the clock starts. The first pass is a warm-up. The result
is one JSON object on stdout. Needs numpy, Pillow or OpenCV, and torch for --compute torch.

  process_pool.py INPUT OUTPUT [--rank 20] [--compute numpy|torch] [--codec pillow|opencv]
                  [--format png|jpg] [--processes N] [--images N] [--batch 256] [--repeats 5]
"""

import argparse
import ctypes
import importlib
import json
import multiprocessing
import os
import pathlib
import shutil
import statistics
import sys
import time

START = time.perf_counter()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when NumPy is loaded

SUFFIXES = {".png", ".jpg", ".jpeg"}
JPEG_QUALITY, PNG_LEVEL = 95, 1  # level 1 is the fastest that compresses
MAX_LOSS_DB = 0.01
BUFFERS = 4  # batches in flight


def needed(module, package):
    try:
        return importlib.import_module(module)
    except ImportError:
        sys.exit(f"{package} for Python is missing (module {module})")


numpy = needed("numpy", "NumPy")


class Pillow:
    def __init__(self):
        self.image = needed("PIL.Image", "Pillow")
        self.version = "Pillow " + needed("PIL", "Pillow").__version__

    def shape(self, path):
        with self.image.open(path) as image:
            return (image.height, image.width) if image.mode == "L" else (image.height, image.width, 3)

    def read(self, path):
        with self.image.open(path) as image:
            return numpy.asarray(image if image.mode in ("L", "RGB") else image.convert("RGB"))

    def write(self, path, pixels):
        options = {"compress_level": PNG_LEVEL} if path.suffix == ".png" else {"quality": JPEG_QUALITY}
        self.image.fromarray(pixels).save(path, **options)


class OpenCv:
    def __init__(self):
        self.cv2 = needed("cv2", "OpenCV")
        self.cv2.setNumThreads(1)
        self.version = "OpenCV " + self.cv2.__version__
        self.options = {".png": [self.cv2.IMWRITE_PNG_COMPRESSION, PNG_LEVEL],
                        ".jpg": [self.cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]}

    def shape(self, path):
        return self.read(path).shape

    def read(self, path):  # the order of the channels does not matter
        return self.cv2.imread(str(path), self.cv2.IMREAD_UNCHANGED)

    def write(self, path, pixels):
        if not self.cv2.imwrite(str(path), pixels, self.options[path.suffix]):
            sys.exit(f"{path}: cannot be written")


CODECS = {"pillow": Pillow, "opencv": OpenCv}


# Methods: matrices [..., rows, columns] in float32 to their approximations, with numpy or torch.
def svd(lib, matrices, rank):
    u, s, vt = lib.linalg.svd(matrices, full_matrices=False)
    return (u[..., :rank] * s[..., None, :rank]) @ vt[..., :rank, :]


def gram(lib, matrices, rank):
    """Projects on the first eigenvectors of A'A or AA', in float64."""
    if matrices.shape[-2] < matrices.shape[-1]:
        return gram(lib, matrices.swapaxes(-1, -2), rank).swapaxes(-1, -2)
    exact = matrices.astype("float64") if lib is numpy else matrices.double()
    _, vectors = lib.linalg.eigh(exact.swapaxes(-1, -2) @ exact)
    leading = vectors[..., -rank:]
    if lib is numpy:
        leading = leading.astype("float32")
    else:
        leading = leading.float()
    return (matrices @ leading) @ leading.swapaxes(-1, -2)


def lowrank(lib, matrices, rank):
    u, s, v = lib.svd_lowrank(matrices, q=min(2 * rank, *matrices.shape[-2:]), niter=4)
    return (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank].swapaxes(-1, -2)


METHODS = {"numpy": {"svd": svd, "gram": gram}, "torch": {"svd": svd, "gram": gram, "lowrank": lowrank}}


def loss_db(matrices, approximation, rank):
    """The largest loss of PSNR against the truncated SVD in float64, before rounding."""
    exact = matrices.astype("float64")
    squares = numpy.linalg.svd(exact, compute_uv=False) ** 2
    floor = 1e-12 * squares.sum(axis=-1)
    optimum = numpy.maximum(squares[..., rank:].sum(axis=-1), floor)
    error = numpy.maximum(((exact - approximation) ** 2).sum(axis=(-2, -1)), floor)
    return float((10 * numpy.log10(error / optimum)).max())


def planes(pixels):
    """[..., rows, columns, channels] to matrices; gray images are matrices."""
    return pixels if GRAY else numpy.moveaxis(pixels, -1, -3)


def choose_method(name, names, approximate, matrices, rank):
    """Returns the name of the fastest method that is precise enough, and the losses of those tried."""
    times, losses = {}, {}
    for candidate in names if name == "auto" else [name]:
        losses[candidate] = loss_db(matrices, approximate(candidate), rank)  # a warm-up too
        begin = time.perf_counter()
        approximate(candidate)
        times[candidate] = time.perf_counter() - begin
    good = [n for n in times if losses[n] <= MAX_LOSS_DB] or list(times)
    return min(good, key=times.get), losses


def init_process(codec, buffers, args):
    global CODEC, BUFFER, ARGS, GRAY
    CODEC, BUFFER, ARGS, GRAY = CODECS[codec](), buffers, args, None


def whole_image(job):
    """All steps of one image, with NumPy. Returns the CPU time in seconds."""
    global GRAY
    source, target, method = job
    begin = time.process_time()
    pixels = CODEC.read(source)
    GRAY = pixels.ndim == 2
    result = METHODS["numpy"][method](numpy, planes(pixels).astype("float32"), ARGS.rank)
    result = numpy.clip(numpy.rint(result), 0, 255).astype("uint8")
    CODEC.write(target, result if GRAY else numpy.ascontiguousarray(numpy.moveaxis(result, -3, -1)))
    return time.process_time() - begin


def slot(number, shape, count):
    """The images of a buffer in shared memory."""
    pixels = numpy.frombuffer(BUFFER, dtype="uint8", count=count * int(numpy.prod(shape)),
                              offset=number * (len(BUFFER) // BUFFERS))
    return pixels.reshape((count, *shape))


def decode_part(job):
    number, shape, count, first, paths = job
    images = slot(number, shape, count)
    for i, path in enumerate(paths):
        images[first + i] = CODEC.read(path)


def encode_part(job):
    number, shape, count, first, paths = job
    images = slot(number, shape, count)
    for i, path in enumerate(paths):
        CODEC.write(path, images[first + i])


class TorchPool:
    """Decoding and encoding in the pool, computing in this process."""

    def __init__(self, pool, args, buffers, method):
        self.pool, self.args, self.buffers, self.method, self.torch = pool, args, buffers, method, needed("torch", "PyTorch")
        self.torch.backends.cuda.matmul.allow_tf32 = False
        self.torch.cuda.cudart().cudaHostRegister(ctypes.addressof(buffers), len(buffers), 0)  # pinned

    def parts(self, number, shape, count, paths):
        size = max(1, count // (2 * self.args.processes))
        return [(number, shape, count, first, paths[first:first + size]) for first in range(0, count, size)]

    def compute(self, number, shape, count):
        global BUFFER
        BUFFER = self.buffers
        host = self.torch.from_numpy(slot(number, shape, count))
        pixels = host.cuda(non_blocking=True)
        matrices = pixels.float() if len(shape) == 2 else pixels.permute(0, 3, 1, 2).float()
        result = METHODS["torch"][self.method](self.torch, matrices, self.args.rank).round_().clamp_(0, 255)
        result = result.to(self.torch.uint8)
        host.copy_(result if len(shape) == 2 else result.permute(0, 2, 3, 1))

    def run(self, jobs, shapes):
        by_shape = {}
        for job in jobs:
            by_shape.setdefault(shapes[job[0]], []).append(job)
        batches = [(shape, group[i:i + self.args.batch]) for shape, group in by_shape.items()
                   for i in range(0, len(group), self.args.batch)]
        decoding, encoding = {}, {}

        def start(index):
            if index >= len(batches):
                return
            if index - BUFFERS in encoding:
                encoding.pop(index - BUFFERS).get()  # the buffer is free
            shape, batch = batches[index]
            parts = self.parts(index % BUFFERS, shape, len(batch), [job[0] for job in batch])
            decoding[index] = self.pool.map_async(decode_part, parts, chunksize=1)

        for index in range(BUFFERS - 1):
            start(index)
        for index, (shape, batch) in enumerate(batches):
            decoding.pop(index).get()
            self.compute(index % BUFFERS, shape, len(batch))
            parts = self.parts(index % BUFFERS, shape, len(batch), [job[1] for job in batch])
            encoding[index] = self.pool.map_async(encode_part, parts, chunksize=1)
            start(index + BUFFERS - 1)
        for rest in encoding.values():
            rest.get()


def choose_on_gpu(args, pixels):
    torch = needed("torch", "PyTorch")
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU")
    matrices = planes(pixels).astype("float32")
    few = torch.from_numpy(numpy.ascontiguousarray(numpy.broadcast_to(matrices, (32, *matrices.shape)))).cuda()

    def approximate(method):
        return METHODS["torch"][method](torch, few, args.rank)[0].cpu().numpy()

    return choose_method(args.method, METHODS["torch"], approximate, matrices, args.rank)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=pathlib.Path, help="folder of PNG and JPEG files")
    parser.add_argument("output", type=pathlib.Path, help="a folder that does not exist yet; it is removed at the end")
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--compute", choices=METHODS, default="numpy")
    parser.add_argument("--codec", choices=CODECS, default="pillow")
    parser.add_argument("--method", choices=["auto", "svd", "gram", "lowrank"], default="auto")
    parser.add_argument("--format", choices=["png", "jpg"], default="png")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--images", type=int, help="images of a pass; default: each file once")
    parser.add_argument("--batch", type=int, default=256, help="images of a batch on the GPU")
    parser.add_argument("--repeats", type=int, default=5, help="timed passes")
    args = parser.parse_args()
    if args.output.exists():
        parser.error(f"{args.output} exists")
    if args.method != "auto" and args.method not in METHODS[args.compute]:
        parser.error(f"--compute {args.compute} has no method {args.method}")
    if min(args.rank, args.processes, args.batch, args.repeats, args.images or 1) < 1:
        parser.error("numbers must be positive")
    return args


def make_jobs(args, files, pass_number):
    """Input and output of each image of a pass. Each repetition of the files has its own folder."""
    jobs = []
    for i in range(args.images or len(files)):
        folder = args.output / str(pass_number) / str(i // len(files))
        if i % len(files) == 0:
            folder.mkdir(parents=True)
        jobs.append((files[i % len(files)], folder / f"{i % len(files)}.{args.format}"))
    return jobs


def main():
    global GRAY
    args = parse_args()
    files = sorted(path for path in args.input.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not files:
        sys.exit("no images found")
    codec = CODECS[args.codec]()
    shapes = {path: codec.shape(path) for path in files}
    largest = max(int(numpy.prod(shape)) for shape in shapes.values())
    buffers = multiprocessing.RawArray(ctypes.c_uint8, BUFFERS * args.batch * largest if args.compute == "torch" else 1)
    pool = multiprocessing.get_context("fork").Pool(args.processes, init_process, (args.codec, buffers, args))
    first = codec.read(files[0])
    GRAY = first.ndim == 2
    if args.compute == "torch":  # after the fork: a CUDA context cannot be inherited
        method, losses = choose_on_gpu(args, first)
        run_torch = TorchPool(pool, args, buffers, method).run
        run = lambda jobs: run_torch(jobs, shapes)
    else:
        matrices = planes(first).astype("float32")
        method, losses = choose_method(args.method, METHODS["numpy"], lambda name: METHODS["numpy"][name](
            numpy, matrices, args.rank), matrices, args.rank)
        run = lambda jobs: list(pool.imap_unordered(whole_image, [(*job, method) for job in jobs], chunksize=4))
    rates, cpu_s, start_s, bytes_per_image = [], [], 0, 0
    try:
        for number in range(args.repeats + 1):
            jobs = make_jobs(args, files, number)
            begin = time.perf_counter()
            if number == 0:
                run(jobs[: max(len(files), 2 * args.batch)])
                start_s = time.perf_counter() - START
            else:
                times = run(jobs)
                rates.append(len(jobs) / (time.perf_counter() - begin))
                cpu_s.append(sum(times) / len(jobs) if times else None)
                bytes_per_image = sum(job[1].stat().st_size for job in jobs) / len(jobs)
            shutil.rmtree(args.output)
    finally:
        pool.terminate()
        shutil.rmtree(args.output, ignore_errors=True)
    count, median = args.images or len(files), statistics.median(rates)
    print(json.dumps({
        "peer": f"process pool, {args.codec}, {args.compute}", "codec": codec.version, "numpy": numpy.__version__,
        "torch": sys.modules["torch"].__version__ if "torch" in sys.modules else None,
        "method": method, "max_loss_db": losses,
        "processes": args.processes, "batch": args.batch if args.compute == "torch" else None,
        "files": len(files), "images": count, "rank": args.rank, "format": args.format, "repeats": args.repeats,
        "images_per_s": {"median": median, "min": min(rates), "max": max(rates)},
        "cpu_us_per_image": 1e6 * statistics.median(cpu_s) if None not in cpu_s else None,
        "start_s": start_s, "images_per_s_with_start": count / (start_s + count / median),
        "output_bytes_per_image": bytes_per_image,
    }))


if __name__ == "__main__":
    main()
