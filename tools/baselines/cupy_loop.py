#!/usr/bin/env python3
"""Baseline: CuPy's linalg.svd in a Python loop, one image at a time.

Every image goes from host memory through upload, float32, SVD, rank k, rounding to 8 bits and
download, as a short script would do it. Images are read before the clock starts. The result is one
JSON object on stdout. Needs numpy and cupy; Pillow only for a folder of images.

  cupy_loop.py --images FOLDER|STACK.npy [--rank 20] [--limit 64] [--repeats 10]
  cupy_loop.py --raw FILE --rows 256 --cols 256 [--count N] ...
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import cupy
import numpy

SUFFIXES = {".png", ".jpg", ".jpeg"}


def read_folder(folder, limit):
    from PIL import Image

    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    return [numpy.asarray(Image.open(p).convert("L")) for p in paths[:limit]]


def read_images(args):
    """Returns a list of rows x cols arrays of 8 bits."""
    if args.raw:
        stack = numpy.fromfile(args.raw, dtype=numpy.uint8, count=args.count * args.rows * args.cols
                               if args.count else -1)
        images = list(stack.reshape(-1, args.rows, args.cols))
    elif args.images.is_dir():
        images = read_folder(args.images, args.limit)
    else:
        stack = numpy.load(args.images)
        images = list(stack[None] if stack.ndim == 2 else stack)
    images = images[: args.limit]
    if not images:
        sys.exit("no images found")
    if any(image.dtype != numpy.uint8 or image.ndim != 2 for image in images):
        sys.exit("images must be 8-bit gray")
    return images


def approximate(image, rank):
    u, s, vt = cupy.linalg.svd(cupy.asarray(image).astype(cupy.float32), full_matrices=False)
    return (u[:, :rank] * s[:rank]) @ vt[:rank]


def reconstruct(image, rank):
    return cupy.clip(cupy.rint(approximate(image, rank)), 0, 255).astype(cupy.uint8).get()


def seconds_a_pass(images, rank):
    start = time.perf_counter()
    for image in images:
        reconstruct(image, rank)
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start


def loss_db(image, rank):
    """Returns the PSNR loss against the Eckart-Young optimum in float64, before rounding to 8 bits, in dB."""
    exact = image.astype(numpy.float64)
    sigma = numpy.linalg.svd(exact, compute_uv=False)
    optimal = float(numpy.sum(sigma[rank:] ** 2))
    error = float(numpy.sum((exact - approximate(image, rank).get().astype(numpy.float64)) ** 2))
    negligible = 1e-12 * float(numpy.sum(exact**2))  # the error of float32 is larger
    if optimal <= negligible:
        return None
    return 10 * numpy.log10(error / optimal)


def driver_version():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--images", type=pathlib.Path, help="folder of PNG and JPEG, or .npy stack")
    source.add_argument("--raw", type=pathlib.Path, help="8-bit images, one after another")
    parser.add_argument("--rows", type=int, help="rows of each image in --raw")
    parser.add_argument("--cols", type=int, help="columns of each image in --raw")
    parser.add_argument("--count", type=int, help="images to read from --raw; default: all")
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--limit", type=int, default=64, help="maximum number of images")
    parser.add_argument("--repeats", type=int, default=10, help="timed passes, 10 or more")
    parser.add_argument("--check", type=int, default=3, help="images to compare with float64")
    args = parser.parse_args()
    if args.raw and not (args.rows and args.cols):
        parser.error("--raw needs --rows and --cols")
    if args.repeats < 10:
        parser.error("--repeats must be 10 or more")
    if args.rank < 1 or args.limit < 1:
        parser.error("--rank and --limit must be positive")
    return args


def main():
    args = parse_args()
    images = read_images(args)
    seconds_a_pass(images, args.rank)  # warm-up
    rates = [len(images) / seconds_a_pass(images, args.rank) for _ in range(args.repeats)]
    losses = [loss_db(image, args.rank) for image in images[: args.check]]
    losses = [loss for loss in losses if loss is not None]
    shapes = sorted({image.shape for image in images})
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
    print(json.dumps({
        "peer": "cupy.linalg.svd loop",
        "device": name.decode() if isinstance(name, bytes) else name,
        "driver": driver_version(),
        "cuda_runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "images": len(images),
        "n": shapes[0] if len(shapes) == 1 else shapes,
        "k": args.rank,
        "repeats": args.repeats,
        "images_per_s": {"median": float(numpy.median(rates)), "min": min(rates), "max": max(rates)},
        "max_loss_db": max(losses, default=None),
    }))


if __name__ == "__main__":
    main()
