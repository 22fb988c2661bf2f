# The environment of the scripts: Python and the libraries of requirements/worker.lock, and nothing of the project. A
# step's code and the worker's own travel with the step, so this image changes only when the lock or this file does:
# its tag is the digest of both. `make images` builds it.
#
# To build it takes no GPU and no CUDA: Marian's wheel holds it, and the driver comes from the node.

# The full image has a compiler, so that no package is fetched that no digest pins.
FROM python:3.11.15-bookworm@sha256:a8f8fbe1a0edc9e4dddafa64ba73f7e04be7be5ebc23f332362e779e0a2e4e52 AS build
ARG SOURCE_DATE_EPOCH=315532800
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY requirements/worker.lock .
# What is published as source alone is built with this image's setuptools, and eflomal, last, with the locked numpy and
# Cython. Its Makefile would compile for the very processor that builds the image (-march=native); on an older one
# it would end with "illegal instruction". The other flags are its own but for -g, whose symbols hold paths.
RUN sed '/^eflomal==/,/# via/d' worker.lock > most.lock \
    && sed -n '/^eflomal==/,/# via/p' worker.lock > eflomal.lock \
    && pip wheel -q --require-hashes --no-deps --no-build-isolation -w /wheels -r most.lock \
    && pip install -q --no-index --no-deps /wheels/cython-*.whl /wheels/numpy-*.whl \
    && CFLAGS=-g0 MAKEFLAGS='CFLAGS=-Ofast\ -march=x86-64-v3\ -std=gnu99\ -fopenmp' \
       pip wheel -q --require-hashes --no-deps --no-build-isolation -w /wheels -r eflomal.lock

FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3
ARG SOURCE_DATE_EPOCH=315532800
# OpenMP for eflomal, which the slim image lacks.
COPY --from=build /usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0 /usr/lib/x86_64-linux-gnu/libgomp.so.1
# Compiled here, since a pod's root is read-only, and not by date, so that each build gives the same bytes.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install -q --no-index --no-deps --no-compile --no-cache-dir --root-user-action ignore /wheels/*.whl \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.11

# The folders under nvidia are where Google's nodes put the driver; other runtimes put it where it is found anyway.
ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64 \
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/nvidia/bin \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp
WORKDIR /tmp
USER 10001:10001
