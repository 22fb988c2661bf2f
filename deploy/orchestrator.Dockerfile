# The project: Dagster's code server, web server and daemon, and the pods of runs. It stands on the worker's image, so
# that what keys say of libraries is what both have. `make images` builds it and gives WORKER.
ARG WORKER
FROM ${WORKER}
ARG SOURCE_DATE_EPOCH=315532800
USER 0
COPY requirements/tracking.lock /build/tracking.lock
# It has all of main.lock. What worker.lock has is there already; all the rest is published as wheels.
RUN pip install -q --require-hashes --no-deps --only-binary :all: --no-compile --no-cache-dir --root-user-action ignore \
        -r /build/tracking.lock \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.11

# Not installed, because keys, images and training configs are looked up in files beside the packages.
WORKDIR /opt/translations
COPY pyproject.toml workspace.yaml ./
COPY requirements requirements
COPY deploy/worker.Dockerfile deploy/environment.Dockerfile deploy/
COPY configs configs
COPY pipeline pipeline
COPY translations_assets translations_assets
# The chart starts `dagster-webserver`: ours has the logs of steps, too.
RUN python -m compileall -q --invalidation-mode unchecked-hash pipeline translations_assets \
    && printf '#!/bin/sh\nexec python -m translations_assets.cli.main "$@"\n' > /usr/local/bin/translations \
    && printf '#!/bin/sh\nexec python -m translations_assets.ui.deployed "$@"\n' > /usr/local/bin/dagster-webserver \
    && chmod 755 /usr/local/bin/translations /usr/local/bin/dagster-webserver

# The commit, which manifests record, and the repository's page, to which assets link: there is no git in here to ask.
ARG REVISION
ARG REPOSITORY
RUN printf '%s\n' "${REPOSITORY}" > repository && printf '%s\n' "${REVISION}" > revision

# The root is read-only in a pod: what is written goes to /tmp.
ENV PYTHONPATH=/opt/translations \
    TRANSLATIONS_STATE=/tmp/translations \
    DAGSTER_HOME=/opt/dagster/dagster_home
USER 10001:10001
