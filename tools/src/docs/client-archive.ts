import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { tarball } from './tarball.js';

const LIBRARY = 'libs/sharing-client';
const PYTHON_PACKAGE = 'gatehouse_sharing';

/** What a developer's package.json needs of ours. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The TypeScript client as npm installs it from an address. @throws PlainFailure if it was not built */
export function npmArchive(root: string): Buffer {
  const { name, version, description, dependencies } = manifestOf(root);
  const manifest = {
    name,
    version,
    description,
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    // Web Crypto and fetch without a flag.
    engines: { node: '>=20' },
    dependencies,
  };
  const files = new Map<string, string | Buffer>([['package/package.json', `${JSON.stringify(manifest, null, 2)}\n`]]);
  const dist = join(root, LIBRARY, 'dist');
  for (const file of builtFiles(dist)) files.set(`package/dist/${file}`, readFileSync(join(dist, file)));
  return tarball(files);
}

/** The Python client as pip installs it from an address: a source distribution, which needs setuptools to be installed. */
export function pipArchive(root: string): Buffer {
  const { version } = manifestOf(root);
  const folder = `${PYTHON_PACKAGE}-${version}`;
  const source = join(root, LIBRARY, 'python');
  const metadata = `Metadata-Version: 2.1\nName: gatehouse-sharing\nVersion: ${version}\n`;
  const files = new Map<string, string | Buffer>([[`${folder}/PKG-INFO`, metadata]]);
  for (const name of ['pyproject.toml', ...pythonFiles(source)]) {
    files.set(`${folder}/${name}`, readFileSync(join(source, name)));
  }
  return tarball(files);
}

function manifestOf(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, LIBRARY, 'package.json'), 'utf8')) as Manifest;
}

/** Not what Python leaves beside its sources. */
function pythonFiles(source: string): string[] {
  const entries = readdirSync(join(source, PYTHON_PACKAGE), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /(?:\.py|py\.typed)$/.test(entry.name))
    .map(({ parentPath, name }) => relative(source, join(parentPath, name)).replaceAll(sep, '/'))
    .toSorted();
}

function builtFiles(dist: string): string[] {
  try {
    return readdirSync(dist)
      .filter((file) => /\.(?:js|d\.ts)$/.test(file))
      .toSorted();
  } catch (cause) {
    throw new PlainFailure('the TypeScript client was not built.', { advice: ['Build it with: npm run build'], cause });
  }
}
