# The worker's image with the environment of one more lock: for steps that run programs whose libraries clash with the
# scripts' (requirements/opuscleaner.lock). A script finds it, as it finds one that it has made, by the digest of the
# lock and of its Python's path, which is the same in both images.
# `make images` builds an image for each such lock, and gives WORKER and ENVIRONMENT, the lock's name.
ARG WORKER

# The worker's Python, with a compiler for what is published as source alone. Tools that such a package asks for to be
# built (kenlm: CMake) no lock pins, so two builds may differ in it.
FROM python:3.11.15-bookworm@sha256:a8f8fbe1a0edc9e4dddafa64ba73f7e04be7be5ebc23f332362e779e0a2e4e52 AS build
ARG ENVIRONMENT
ARG SOURCE_DATE_EPOCH=315532800
ENV TRANSLATIONS_ENVIRONMENTS=/opt/environments
WORKDIR /build
COPY pipeline/common/environments.py pipeline/common/errors.py pipeline/common/
COPY requirements/${ENVIRONMENT}.lock .
# Made by what would make it in a pod, and compiled anew, not by date.
RUN python -c "from pathlib import Path; from pipeline.common.environments import interpreter; \
               interpreter(Path('${ENVIRONMENT}.lock'))" \
    && rm /opt/environments/*.lock \
    && python -m compileall -q -f --invalidation-mode unchecked-hash /opt/environments

FROM ${WORKER}
COPY --from=build /opt/environments /opt/environments
ENV TRANSLATIONS_ENVIRONMENTS=/opt/environments
USER 10001:10001
