# One image for every process of Gatehouse; the command says which one runs. Debian, not Alpine: development and tests use
# glibc, too. NODE_IMAGE names another base, such as a mirror of this one.
#   docker build .                    the services
#   docker build --target agent .     the agent of the tunnel: Node and one file
ARG NODE_IMAGE=node:26-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY apps/console/package.json apps/console/
COPY apps/proxy-gateway/package.json apps/proxy-gateway/
COPY apps/resource-sharing/package.json apps/resource-sharing/
COPY apps/tunnel-agent/package.json apps/tunnel-agent/
COPY apps/tunnel-gateway/package.json apps/tunnel-gateway/
COPY libs/audit/package.json libs/audit/
COPY libs/changes/package.json libs/changes/
COPY libs/auth/package.json libs/auth/
COPY libs/child/package.json libs/child/
COPY libs/contracts/package.json libs/contracts/
COPY libs/geo/package.json libs/geo/
COPY libs/i18n/package.json libs/i18n/
COPY libs/jobs/package.json libs/jobs/
COPY libs/net/package.json libs/net/
COPY libs/persistence/package.json libs/persistence/
COPY libs/platform/package.json libs/platform/
COPY libs/postgres/package.json libs/postgres/
COPY libs/proxy-kernel/package.json libs/proxy-kernel/
COPY libs/service/package.json libs/service/
COPY libs/share-links/package.json libs/share-links/
COPY libs/sharing-client/package.json libs/sharing-client/
COPY libs/subscription-formats/package.json libs/subscription-formats/
COPY libs/testing/package.json libs/testing/
COPY libs/tracing/package.json libs/tracing/
COPY libs/tunnel-kernel/package.json libs/tunnel-kernel/
COPY libs/webhooks/package.json libs/webhooks/
RUN npm ci --ignore-scripts --no-audit --no-fund
# .dockerignore says what this is.
COPY . .
# Optional packages: a database to try things out with, and the compiler's own binaries.
RUN node node_modules/typescript/bin/tsc -b apps/proxy-gateway apps/resource-sharing apps/tunnel-gateway apps/tunnel-agent libs/sharing-client tools \
  && node node_modules/vite/bin/vite.js build --config apps/console/vite.config.mjs \
  && node node_modules/vite/bin/vite.js build --config apps/tunnel-agent/vite.config.mjs \
  && node tools/dist/cli.js docs \
  && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && node tools/image/assemble.mjs /app /image
# docker build --build-arg COMMIT="$(git rev-parse HEAD)": shown by /system/status.
ARG COMMIT=
RUN node -e 'fs.writeFileSync("/image/build.json", JSON.stringify({ commit: process.argv[1], build_time: new Date() }))' "$COMMIT"

FROM ${NODE_IMAGE} AS agent
ARG COMMIT=
ARG VERSION=local
LABEL org.opencontainers.image.title="Gatehouse agent" \
  org.opencontainers.image.description="Makes a private service reachable through a Gatehouse tunnel gateway." \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${COMMIT}"
COPY --from=build --chown=root:root /image/app/apps/tunnel-agent/dist/gatehouse-agent.mjs /opt/gatehouse/
ENV NODE_ENV=production
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/opt/gatehouse/gatehouse-agent.mjs"]

FROM ${NODE_IMAGE} AS services
ARG COMMIT=
ARG VERSION=local
LABEL org.opencontainers.image.title="Gatehouse" \
  org.opencontainers.image.description="Forward proxy, open sharing API and tunnel gateway." \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${COMMIT}"
ENV NODE_ENV=production GATEHOUSE_HOME=/var/lib/gatehouse BIND_ADDRESS=0.0.0.0
# Memory of password hashes goes back to the system; glibc would learn to keep 20 MiB of it for each of Node's threads.
ENV MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_ARENA_MAX=2
WORKDIR /app
RUN install -d -o node -g node -m 0700 /var/lib/gatehouse /var/lib/gatehouse-certificates /var/lib/gatehouse-backups
# Packages change rarely: an update then transfers the second layer only.
COPY --from=build --chown=root:root /image/packages ./
COPY --from=build --chown=root:root /image/app ./
COPY --from=build --chown=root:root /image/build.json ./
USER node
VOLUME /var/lib/gatehouse
# REST and consoles; the proxy; agents; visitors of hosts.
EXPOSE 8080 7890 8024 8024/udp 8880 8443
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=6 \
  CMD ["node", "libs/platform/dist/health/check-ready.js", "http://127.0.0.1:8080/readyz"]
CMD ["node", "apps/proxy-gateway/dist/main.js"]
