# The bridge as an image: Spark driver and Spark executor in one. docs/image.md tells how to build and run it.
#
# Nothing is fetched at run time. What is fetched at build time comes from the base image's package sources, from
# requirements-runtime.lock (every file's hash is checked) and from connectors/kafka/jars.json (so is every jar's).
# For a network with mirrors or a certificate authority of its own there are build secrets, all optional, none of which
# ends up in the image: apt.sources (deb822), pip.conf, ca.pem (one or many certificates).
# Two builds of the same sources and packages differ in as little as possible: files that a step makes get the time
# SOURCE_DATE_EPOCH, which is no part of any program (docs/image.md tells what still differs).
ARG BASE_IMAGE=debian:bookworm-slim
ARG SOURCE_DATE_EPOCH=315532800


# What runs the bridge: Python, Java, and an init process that forwards signals and buries orphans.
# libnss-wrapper lets Java work for a user id that /etc/passwd does not know, as some clusters give out.
FROM ${BASE_IMAGE} AS system
ARG SOURCE_DATE_EPOCH
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    --mount=type=secret,id=apt.sources \
    began=$(date +%s) \
    && /mnt/install-packages.sh ca-certificates libnss-wrapper openjdk-17-jre-headless python3 tini \
    && groupadd --system --gid 185 spark \
    && useradd --system --uid 185 --gid spark --home-dir /tmp --shell /usr/sbin/nologin spark \
    && /mnt/settle.sh "$began" "$SOURCE_DATE_EPOCH"


# What only the build needs: pip, a C compiler, and setuptools with setuptools-scm and cffi of the versions that the lock
# names.
FROM system AS build
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    --mount=type=secret,id=apt.sources \
    --mount=type=secret,id=ca.pem \
    /mnt/install-packages.sh gcc libc6-dev libpython3-dev python3-venv unzip \
    && /mnt/trust.sh
ENV PIP_CACHE_DIR=/var/cache/pip \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_INPUT=1
WORKDIR /build
COPY requirements.lock requirements-runtime.lock ./
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    --mount=type=cache,target=/var/cache/pip \
    python3 -m venv tools \
    && awk '/^(cffi|packaging|pycparser|setuptools|setuptools-scm|vcs-versioning)==/ { on = 1 } on { print } !/\\$/ { on = 0 }' requirements.lock > tools.lock \
    && tools/bin/pip install --quiet --no-deps --require-hashes -r tools.lock


# The Python packages, into an environment without pip.
FROM build AS packages
ARG SOURCE_DATE_EPOCH
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    --mount=type=cache,target=/var/cache/pip \
    tools/bin/pip wheel --quiet --no-build-isolation --no-deps --require-hashes \
        -r requirements-runtime.lock --wheel-dir wheels
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    began=$(date +%s) \
    && python3 -m venv --without-pip /opt/cdc-bridge/venv \
    && tools/bin/pip --python /opt/cdc-bridge/venv/bin/python install --quiet --no-index --no-deps --no-compile \
        wheels/*.whl \
    && /mnt/trim.sh /opt/cdc-bridge/venv \
    && /mnt/settle.sh "$began" "$SOURCE_DATE_EPOCH"


# Spark's Kafka source, and the native parts of three compressors: their jars would unpack them into /tmp, from where
# they cannot be loaded when it is mounted noexec.
FROM packages AS jars
ARG SOURCE_DATE_EPOCH
ARG JAVA_TOOL_OPTIONS=""
COPY connectors/__init__.py connectors/errors.py connectors/java.py connectors/
COPY connectors/kafka/__init__.py connectors/kafka/errors.py connectors/kafka/ivy.py connectors/kafka/jars.json \
     connectors/kafka/jars.py connectors/kafka/
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    began=$(date +%s) \
    && CDC_BRIDGE_JARS=/opt/cdc-bridge/jars /opt/cdc-bridge/venv/bin/python -B -c \
        'from connectors.kafka.jars import JarSet, resolve_jars; resolve_jars(JarSet.SPARK_KAFKA, progress=print)' \
    && rm /opt/cdc-bridge/jars/*.lock \
    && ln -rs /opt/cdc-bridge/jars/spark-kafka-* /opt/cdc-bridge/jars/spark-kafka \
    && /mnt/native-libraries.sh /opt/cdc-bridge/venv/lib/python3.11/site-packages/pyspark/jars /usr/lib/jni \
    && /mnt/settle.sh "$began" "$SOURCE_DATE_EPOCH"


# The bridge itself, laid out under /project as it will lie in the image.
FROM build AS project
ARG SOURCE_DATE_EPOCH
ARG VERSION=""
WORKDIR /build/source
COPY LICENSE README.md kernel_build.py pyproject.toml setup.py ./
COPY connectors connectors
COPY streaming streaming
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    --mount=type=bind,source=docker,target=/media \
    began=$(date +%s) \
    && SETUPTOOLS_SCM_PRETEND_VERSION_FOR_CDC_BRIDGE="$VERSION" \
        ../tools/bin/pip wheel --quiet --no-build-isolation --no-deps --no-index --wheel-dir ../wheels . \
    && python3 -m venv --without-pip /opt/cdc-bridge/venv \
    && ../tools/bin/pip --python /opt/cdc-bridge/venv/bin/python install --quiet --no-index --no-deps --no-compile \
        --root /project ../wheels/*.whl \
    && test -f /project/opt/cdc-bridge/venv/lib/python3.11/site-packages/connectors/debezium/avro_kernel/_kernel.abi3.so \
    && test -f /project/opt/cdc-bridge/venv/lib/python3.11/site-packages/connectors/debezium/json_kernel/_kernel.abi3.so \
    && test -f /project/opt/cdc-bridge/venv/lib/python3.11/site-packages/connectors/kafka/reading/_messages.abi3.so \
    && /mnt/trim.sh /opt/cdc-bridge/venv /project \
    && install -D -m 755 /media/entrypoint.sh /project/opt/entrypoint.sh \
    && install -D -m 644 /media/healthcheck.py /project/opt/cdc-bridge/healthcheck.py \
    && install -D -m 644 -t /project/opt/cdc-bridge/spark-conf /media/spark-conf/* streaming/driver/log4j2.xml \
    && /mnt/settle.sh "$began" "$SOURCE_DATE_EPOCH" /project


# The image, but for the list of what is in it.
FROM system AS assembled
ARG SOURCE_DATE_EPOCH
COPY --from=packages /opt/cdc-bridge/venv /opt/cdc-bridge/venv
COPY --from=jars /opt/cdc-bridge/jars /opt/cdc-bridge/jars
COPY --from=jars /usr/lib/jni /usr/lib/jni
COPY --from=project /project /
RUN --mount=type=bind,source=docker/steps,target=/mnt \
    began=$(date +%s) \
    && ln -s /opt/cdc-bridge/venv/lib/python3.11/site-packages/pyspark /opt/spark \
    && ln -s /opt/cdc-bridge/venv/bin/cdc-bridge /usr/local/bin/cdc-bridge \
    && install -d -m 755 /etc/cdc-bridge \
    && install -d -m 755 -o spark -g spark /var/lib/cdc-bridge \
    && /mnt/settle.sh "$began" "$SOURCE_DATE_EPOCH"


FROM assembled AS sbom
ARG CREATED=""
ARG VERSION=""
RUN --mount=type=bind,source=docker,target=/mnt \
    /opt/cdc-bridge/venv/bin/python -B /mnt/sbom.py --version "$VERSION" --created "$CREATED" > /sbom.cdx.json


FROM assembled
ARG BASE_IMAGE
ARG CREATED=""
ARG REVISION=""
ARG VERSION=""
COPY --from=sbom /sbom.cdx.json /usr/share/doc/cdc-bridge/sbom.cdx.json
LABEL org.opencontainers.image.title="cdc-bridge" \
      org.opencontainers.image.description="Carries Debezium change events from Kafka into Microsoft Fabric open mirroring" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${BASE_IMAGE}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.version="${VERSION}"
ENV CDC_BRIDGE_COMMIT=${REVISION} \
    CDC_BRIDGE_HTTP__HOST=0.0.0.0 \
    CDC_BRIDGE_HTTP__PORT=8080 \
    CDC_BRIDGE_JARS=/opt/cdc-bridge/jars \
    HOME=/tmp \
    LANG=C.UTF-8 \
    PATH=/opt/cdc-bridge/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    SPARK_CONF_DIR=/opt/cdc-bridge/spark-conf \
    SPARK_DIST_CLASSPATH=/opt/cdc-bridge/jars/spark-kafka/* \
    SPARK_HOME=/opt/spark
WORKDIR /tmp
USER 185:185
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=3 \
    CMD ["/usr/bin/python3", "-I", "/opt/cdc-bridge/healthcheck.py"]
ENTRYPOINT ["/opt/entrypoint.sh"]
CMD ["cdc-bridge", "run", "/etc/cdc-bridge/bridge.yaml"]
