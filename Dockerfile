# NWS for CPUs; `nws` is the entry point. How to build and use it, alone or with compose.yaml: docs/install.md.
# The image for T4 GPUs on Kubernetes is cluster/Dockerfile.
FROM python:3.11-slim AS wheel
WORKDIR /build
COPY pyproject.toml README.md LICENSE hatch_build.py ./
COPY core core
COPY cluster cluster
COPY jobs jobs
COPY nws nws
COPY alembic alembic
# The commit that runs record. Git is not here to tell it; without this they record the version of the package.
ARG COMMIT=
RUN NWS_COMMIT="$COMMIT" pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
# Without CUDA PyTorch is gigabytes smaller. Its builds for CPUs are in an index of their own.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY constraints.txt /opt/nws/
COPY --from=wheel /wheels /opt/nws/wheels
RUN pip install --no-cache-dir --no-deps --index-url "$TORCH_INDEX" --constraint /opt/nws/constraints.txt torch \
    && pip install --no-cache-dir --constraint /opt/nws/constraints.txt "$(echo /opt/nws/wheels/*.whl)[korean,postgres]"
RUN useradd --create-home nws
USER nws
WORKDIR /home/nws
# A volume that is mounted here begins as this folder, which nws may write to.
RUN mkdir -p .cache/huggingface
ENTRYPOINT ["nws"]
