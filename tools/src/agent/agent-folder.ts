import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN } from '../../bootstrap/layout.mjs';

/** Where the package and the executable are made, unless `--out` names another folder. */
export const AGENT_OUT = join(OWN, 'agent');
const LICENCE = /^(licen[cs]e|copying|notice)\b/i;

interface Manifest {
  name: string;
  version: string;
  description?: string;
  license?: string;
  engines?: { node?: string };
  dependencies?: Record<string, string>;
}

/** The agent's one file. @throws PlainFailure if it was not built */
export function agentBundle(root: string): string {
  const file = join(root, 'apps/tunnel-agent/dist/gatehouse-agent.mjs');
  if (existsSync(file)) return file;
  throw new PlainFailure('the agent was not built.', { advice: ['Build it with: npm run build'] });
}

export function agentVersion(root: string): string {
  return readManifest(join(root, 'apps/tunnel-agent')).version;
}

/** Writes the npm package `gatehouse-agent` into `folder`: what it has before is removed. */
export function writeAgentPackage(root: string, folder: string): void {
  const bundle = agentBundle(root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(bundle, join(folder, 'gatehouse-agent.mjs'));
  copyFileSync(join(root, 'apps/tunnel-agent/README.md'), join(folder, 'README.md'));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicences(root));
  const own = licenceFiles(root);
  for (const name of own) copyFileSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageManifest(root, own), null, 2)}\n`);
}

function packageManifest(root: string, licences: readonly string[]): object {
  const { version, description } = readManifest(join(root, 'apps/tunnel-agent'));
  const { engines, license } = readManifest(root);
  return {
    name: 'gatehouse-agent',
    version,
    description,
    // Without a licence of the repository nobody is given rights, and npm has a word for that.
    license: license ?? (licences.length > 0 ? `SEE LICENSE IN ${licences[0]}` : 'UNLICENSED'),
    keywords: ['tunnel', 'reverse-tunnel', 'ngrok', 'frp', 'gatehouse'],
    type: 'module',
    bin: { 'gatehouse-agent': 'gatehouse-agent.mjs' },
    engines,
    files: ['gatehouse-agent.mjs', 'THIRD-PARTY-LICENSES.txt', ...licences],
  };
}

/** The licences of all packages whose code may be in the agent's file. */
function thirdPartyLicences(root: string): string {
  const texts = [...packagesOf(root)].toSorted().map((folder) => {
    const { name, version, license = 'see below' } = readManifest(folder);
    const files = licenceFiles(folder).map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...files].join('\n\n');
  });
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Folders of the published packages that the agent depends on, through packages of ours and of others. */
function packagesOf(root: string): Set<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const follow = (folder: string): void => {
    if (seen.has(folder)) return;
    seen.add(folder);
    for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
      const own = name.startsWith('@gatehouse/');
      const next = own ? join(root, 'libs', name.slice('@gatehouse/'.length)) : findPackage(root, folder, name);
      if (!own) found.add(next);
      follow(next);
    }
  };
  follow(join(root, 'apps/tunnel-agent'));
  return found;
}

/** As Node looks for it: beside the package, or at the root. */
function findPackage(root: string, folder: string, name: string): string {
  const nested = join(folder, 'node_modules', name);
  return existsSync(nested) ? nested : join(root, 'node_modules', name);
}

function licenceFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => LICENCE.test(name));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
