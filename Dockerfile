# Builds with `make install`, like everything else. Needs `docker build .`; see docs/run-it-for-real.md.
FROM python:3.11-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# For any machine of this architecture, and not only for the processor that builds the image.
ENV CMAKE_ARGS="-DGGML_NATIVE=OFF"
COPY . .
RUN make install

FROM python:3.11-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libgomp1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home bots \
 && install --directory --owner=bots /bots
COPY --from=build /app /app
ENV PATH="/app/.venv/bin:$PATH"
USER bots
WORKDIR /bots
VOLUME /bots
HEALTHCHECK --interval=60s --timeout=10s --start-period=60s CMD ["uniun-bots", "status", "--dir", "/bots"]
ENTRYPOINT ["uniun-bots"]
CMD ["run", "/bots"]
