#!/usr/bin/env python3
"""Computes what `eckart bench` computes, with NumPy, Numba, CuPy, PyTorch and JAX, for comparison.

`eckart bench --peers` starts it. Each line of stdin is a request, a JSON object; each line of stdout is its answer.
Arrays are exchanged through memory that both share: file descriptor 3.

  {"request": "libraries"}                       {"libraries": {"NumPy": "1.24.2", ...}}
  {"request": "prepare", "operation": "multiply", "precision": "float32", "m": 2, "n": 2, "k": 2}
                                                 {"variants": [{"name": "NumPy", "device": "cpu", "threads": "all"}]}
      copies the operands out of the shared memory, where they lie one behind the other
  {"request": "prepare_images", "images": 8, "n": 256, "k": 20}    the same, of images of 8 bits to be reconstructed
  {"request": "free"}                            {}, and nothing is prepared
  {"request": "run", "variant": 0}               {"compute_s": 1, "copy_in_s": 0, "copy_out_s": 0, "total_s": 1}
  {"request": "result", "variant": 0}            {}, and the result is in the shared memory
  any                                            {"error": "the reason"}

All times are by the clock of the host, after waiting for the GPU. Operands come from and results go to NumPy arrays,
which are in pageable memory.
"""

import json
import math
import mmap
import os
import sys
import time

# Libraries read these when they are loaded. Their idle threads wait for more work in a loop for about a millisecond, not
# for up to 200: they would disturb what is measured next.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")  # 2^20 cycles
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
os.environ.setdefault("KMP_BLOCKTIME", "1")  # milliseconds
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the memory of the GPU

import numpy  # noqa: E402
MAX_BROADCAST_BYTES = 1 << 30
MAX_LOOP_OPERATIONS = 10**9  # on the CPU
MAX_NAIVE_OPERATIONS = 2 * 10**12  # on a GPU; more take seconds
SHARED_MEMORY = 3  # file descriptor


class Library:
    """A library on one device. Arrays of its own are made from and become NumPy arrays."""

    name = version = ""
    device = "cpu"

    def to_device(self, array):
        return array

    def to_host(self, array):
        return numpy.asarray(array)

    def to_float32(self, images):
        return images.astype("float32")

    def to_pixels(self, found):
        return found.round().clip(0, 255).astype("uint8")

    def synchronize(self):
        pass

    def release(self):
        """Releases results that were deleted, if the library leaves that to its next call."""

    def free(self):
        """Frees memory that nothing uses."""

    def operations(self, shape):
        """Returns the functions for an operation, by name, and the threads of each: "one" or "all"."""
        return {}

    def decompositions(self):
        """Returns functions from a batch of float32 images and a rank to reconstructions, by name."""
        return {}


def array_operations(xp):
    """The operations in the notation of NumPy."""
    return {
        "reconstruct": lambda u, s, vt: (u * s) @ vt,
        "multiply": lambda a, b: a @ b,
        "transpose": lambda a: xp.ascontiguousarray(a.T),
        "add": lambda a, b: a + b,
        "multiply_vector": lambda a, b: a @ b,
    }


def truncated(u, s, vt, k):
    return (u[..., :k] * s[..., None, :k]) @ vt[..., :k, :]


class NumPy(Library):
    name, version = "NumPy", numpy.__version__

    def operations(self, shape):
        operation = shape["operation"]
        threads = "all" if operation in ("reconstruct", "multiply", "multiply_vector") else "one"
        found = {"": (array_operations(numpy)[operation], threads)}
        if operation == "reconstruct" and broadcast_bytes(shape) <= MAX_BROADCAST_BYTES:
            found["broadcast"] = (lambda u, s, vt: (u[:, :, None] * s[:, None] * vt).sum(axis=1), "one")
        return found

    def decompositions(self):
        def loop(images, k):
            return numpy.stack([truncated(*numpy.linalg.svd(image, full_matrices=False), k) for image in images])

        return {"svd": loop}


def broadcast_bytes(shape):
    return 2 * shape["m"] * shape["n"] * shape["k"] * numpy.dtype(shape["precision"]).itemsize


class Numba(Library):
    name = "Numba"

    def __init__(self):
        import numba

        self.version = numba.__version__

        @numba.njit(parallel=True)
        def multiply(a, b):
            c = numpy.empty((a.shape[0], b.shape[1]), a.dtype)
            for i in numba.prange(a.shape[0]):
                row = numpy.zeros(b.shape[1], a.dtype)
                for p in range(a.shape[1]):
                    for j in range(b.shape[1]):
                        row[j] += a[i, p] * b[p, j]
                c[i] = row
            return c

        @numba.njit(parallel=True)
        def reconstruct(u, s, vt):
            c = numpy.empty((u.shape[0], vt.shape[1]), u.dtype)
            for i in numba.prange(u.shape[0]):
                row = numpy.zeros(vt.shape[1], u.dtype)
                for p in range(u.shape[1]):
                    factor = u[i, p] * s[p]
                    for j in range(vt.shape[1]):
                        row[j] += factor * vt[p, j]
                c[i] = row
            return c

        @numba.njit(parallel=True)
        def add(a, b):
            c = numpy.empty_like(a)
            for i in numba.prange(a.size):
                c[i] = a[i] + b[i]
            return c

        self.functions = {"multiply": multiply, "reconstruct": reconstruct, "add": add}

    def operations(self, shape):
        if 2 * shape["m"] * shape["n"] * shape["k"] > MAX_LOOP_OPERATIONS:
            return {}
        function = self.functions.get(shape["operation"])
        return {"loops": (function, "all")} if function else {}


class NumbaCuda(Library):
    name, device = "Numba", "gpu"

    def __init__(self):
        if not hasattr(numpy, "row_stack"):  # Numba 0.68 needs this name, and NumPy 2.5 lacks it
            numpy.row_stack = numpy.vstack
        import numba
        from numba import cuda

        if not cuda.is_available():
            raise ImportError("no GPU")
        self.version, self.cuda = numba.__version__, cuda

        @cuda.jit
        def multiply(a, b, c):
            j, i = cuda.grid(2)
            if i < c.shape[0] and j < c.shape[1]:
                total = c.dtype.type(0)
                for p in range(a.shape[1]):
                    total += a[i, p] * b[p, j]
                c[i, j] = total

        @cuda.jit
        def reconstruct(u, s, vt, c):
            j, i = cuda.grid(2)
            if i < c.shape[0] and j < c.shape[1]:
                total = c.dtype.type(0)
                for p in range(u.shape[1]):
                    total += u[i, p] * s[p] * vt[p, j]
                c[i, j] = total

        self.kernels = {"multiply": multiply, "reconstruct": reconstruct}

    def to_device(self, array):
        return self.cuda.to_device(array)

    def to_host(self, array):
        return array.copy_to_host()

    def synchronize(self):
        self.cuda.synchronize()

    def operations(self, shape):
        kernel = self.kernels.get(shape["operation"])
        m, n, k, block = shape["m"], shape["n"], shape["k"], 16
        if not kernel or 2 * m * n * k > MAX_NAIVE_OPERATIONS:
            return {}
        grid = (-(-n // block), -(-m // block))

        def launch(*operands):
            c = self.cuda.device_array((m, n), numpy.dtype(shape["precision"]))
            kernel[grid, (block, block)](*operands, c)
            return c

        return {"naive": (launch, "one")}


class CuPy(Library):
    name, device = "CuPy", "gpu"

    def __init__(self):
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        self.version, self.cupy = cupy.__version__, cupy

    def to_device(self, array):
        return self.cupy.asarray(array)

    def to_host(self, array):
        return self.cupy.asnumpy(array)

    def synchronize(self):
        self.cupy.cuda.get_current_stream().synchronize()

    def free(self):
        self.cupy.get_default_memory_pool().free_all_blocks()

    def operations(self, shape):
        return {"": (array_operations(self.cupy)[shape["operation"]], "one")}

    def decompositions(self):
        def loop(images, k):
            svd = self.cupy.linalg.svd
            return self.cupy.stack([truncated(*svd(image, full_matrices=False), k) for image in images])

        return {"svd": loop}


class PyTorch(Library):
    name = "PyTorch"

    def __init__(self, device="cpu"):
        import torch

        if device == "gpu" and not torch.cuda.is_available():
            raise ImportError("no GPU")
        torch.backends.cuda.matmul.allow_tf32 = False
        self.version, self.torch, self.device = torch.__version__, torch, device

    def to_device(self, array):
        tensor = self.torch.from_numpy(array)
        return tensor.cuda() if self.device == "gpu" else tensor

    def to_host(self, array):
        return array.cpu().numpy()

    def to_float32(self, images):
        return images.float()

    def to_pixels(self, found):
        return found.round().clamp(0, 255).to(self.torch.uint8)

    def synchronize(self):
        if self.device == "gpu":
            self.torch.cuda.synchronize()

    def free(self):
        if self.device == "gpu":
            self.torch.cuda.empty_cache()

    def operations(self, shape):
        functions = array_operations(None)
        functions["transpose"] = lambda a: a.t().contiguous()
        return {"": (functions[shape["operation"]], "all")}

    def decompositions(self):
        def svd(images, k):
            return truncated(*self.torch.linalg.svd(images, full_matrices=False), k)

        def svd_lowrank(images, k):
            u, s, v = self.torch.svd_lowrank(images, q=min(2 * k, images.shape[-1]), niter=4)
            return truncated(u, s, v.mT, k)

        return {"svd": svd, "svd_lowrank": svd_lowrank}


class Jax(Library):
    name = "JAX"

    def __init__(self):
        import jax

        self.version, self.jax = jax.__version__, jax
        self.device = "gpu" if jax.default_backend() == "gpu" else "cpu"
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")  # without TF32

    def to_device(self, array):
        return self.jax.device_put(array).block_until_ready()

    def synchronize(self):
        self.jax.effects_barrier()

    def release(self):
        self.jax.device_put(0).block_until_ready()

    def operations(self, shape):
        functions = array_operations(self.jax.numpy)
        functions["transpose"] = self.jax.numpy.transpose  # the arrays of JAX are contiguous
        function = self.jax.jit(functions[shape["operation"]])
        return {"": (lambda *operands: function(*operands).block_until_ready(), "all")}

    def decompositions(self):
        svd = self.jax.jit(
            lambda images, k: truncated(*self.jax.numpy.linalg.svd(images, full_matrices=False), k),
            static_argnums=1,
        )
        return {"svd": lambda images, k: svd(images, k).block_until_ready()}


def find_libraries():
    """Returns the libraries that this Python has."""
    found = []
    for make in (NumPy, Numba, PyTorch, Jax, NumbaCuda, CuPy, lambda: PyTorch("gpu")):
        try:
            found.append(make())
        except Exception:  # not installed, or without a GPU
            continue
    return found


class Operation:
    """A function of a library with its operands on the device."""

    def __init__(self, library, function, operands):
        self.library, self.function, self.operands = library, function, operands
        self.on_device = None

    def compute(self):
        if self.on_device is None:
            self.on_device = [self.library.to_device(operand) for operand in self.operands]
        return self.function(*self.on_device)

    def run(self):
        library, clock = self.library, time.perf_counter
        if self.on_device is None:
            self.compute()
        library.synchronize()
        begin = clock()
        result = self.function(*self.on_device)
        library.synchronize()
        compute_s = clock() - begin
        del result
        if library.device == "cpu":
            return {"compute_s": compute_s, "copy_in_s": 0, "copy_out_s": 0, "total_s": compute_s}
        begin = clock()
        operands = [library.to_device(operand) for operand in self.operands]
        library.synchronize()
        copied = clock()
        result = self.function(*operands)
        library.synchronize()
        computed = clock()
        on_host = library.to_host(result)
        end = clock()
        del on_host, result, operands
        library.release()
        return {"compute_s": compute_s, "copy_in_s": copied - begin, "copy_out_s": end - computed, "total_s": end - begin}

    def result(self):
        return numpy.ascontiguousarray(self.library.to_host(self.compute()))


class Decomposition:
    """A decomposition of a library, from 8-bit images of the host to 8-bit images there."""

    def __init__(self, library, function, images, k):
        self.library, self.function, self.images, self.k = library, function, images, k

    def result(self):
        library = self.library
        images = library.to_float32(library.to_device(self.images))
        return library.to_host(library.to_pixels(self.function(images, self.k)))

    def run(self):
        begin = time.perf_counter()
        self.result()
        total_s = time.perf_counter() - begin
        self.library.release()
        return {"compute_s": total_s, "copy_in_s": 0, "copy_out_s": 0, "total_s": total_s}


def operand_shapes(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    return {
        "reconstruct": [(m, k), (k,), (k, n)],
        "multiply": [(m, k), (k, n)],
        "transpose": [(m, n)],
        "add": [(n,), (n,)],
        "multiply_vector": [(m, n), (n,)],
    }[shape["operation"]]


def result_shape(shape):
    m, n = shape["m"], shape["n"]
    return {"transpose": (n, m), "add": (n,), "multiply_vector": (m,)}.get(shape["operation"], (m, n))


class Server:
    def __init__(self):
        self.libraries = find_libraries()
        self.variants = []
        self.expected = None  # shape and type of the results

    def read_arrays(self, shapes, dtype):
        """Returns copies of the arrays in the shared memory."""
        arrays, offset = [], 0
        with mmap.mmap(SHARED_MEMORY, 0) as memory:
            for shape in shapes:
                count = math.prod(shape)
                arrays.append(numpy.frombuffer(memory, dtype, count, offset).reshape(shape).copy())
                offset += arrays[-1].nbytes
        return arrays

    def write_array(self, array, shape, dtype):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"the result is {array.dtype} {array.shape}, not {dtype} {shape}")
        with mmap.mmap(SHARED_MEMORY, 0) as memory:
            numpy.frombuffer(memory, dtype, array.size)[:] = array.reshape(-1)

    def free(self):
        self.variants = []
        for library in self.libraries:
            library.free()

    def describe(self, library, name, threads):
        return {"name": " ".join(filter(None, (library.name, name))), "device": library.device, "threads": threads}

    def prepare(self, request):
        self.free()
        operands = self.read_arrays(operand_shapes(request), numpy.dtype(request["precision"]))
        self.expected = result_shape(request), numpy.dtype(request["precision"])
        answer = []
        for library in self.libraries:
            for name, (function, threads) in library.operations(request).items():
                self.variants.append(Operation(library, function, operands))
                answer.append(self.describe(library, name, threads))
        return {"variants": answer}

    def prepare_images(self, request):
        self.free()
        n = request["n"]
        (images,) = self.read_arrays([(request["images"], n, n)], numpy.uint8)
        self.expected = images.shape, images.dtype
        answer = []
        for library in self.libraries:
            for name, function in library.decompositions().items():
                self.variants.append(Decomposition(library, function, images, request["k"]))
                answer.append(self.describe(library, name, "all"))
        return {"variants": answer}

    def answer(self, request):
        kind = request["request"]
        if kind == "libraries":
            return {"libraries": {library.name: library.version for library in self.libraries}}
        if kind == "free":
            self.free()
            return {}
        if kind == "prepare":
            return self.prepare(request)
        if kind == "prepare_images":
            return self.prepare_images(request)
        variant = self.variants[request["variant"]]
        if kind == "run":
            return variant.run()
        self.write_array(variant.result(), *self.expected)
        return {}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print
    server = Server()
    for line in sys.stdin:
        try:
            answer = server.answer(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
