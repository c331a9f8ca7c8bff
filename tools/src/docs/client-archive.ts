import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { tarball } from './tarball.js';

const LIBRARY = 'libs/sharing-client';

/** What a developer's package.json needs of ours. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The TypeScript client as npm installs it from an address. @throws PlainFailure if it was not built */
export function clientArchive(root: string): Buffer {
  const dist = join(root, LIBRARY, 'dist');
  const { name, version, description, dependencies } = JSON.parse(
    readFileSync(join(root, LIBRARY, 'package.json'), 'utf8'),
  ) as Manifest;
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
  for (const file of builtFiles(dist)) files.set(`package/dist/${file}`, readFileSync(join(dist, file)));
  return tarball(files);
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
