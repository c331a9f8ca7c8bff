import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerResult } from './bring-peers.js';
import { download, go } from './go-modules.js';

const PROGRAM = 'hydra';
const MODULE = 'github.com/ory/hydra/v2';
const VERSION = 'v2.3.0';
/** Its go.mod has this one from a folder that the published module leaves out; a release stands in. */
const LEFT_OUT = 'github.com/ory/hydra-client-go/v2';
const MAIN = `package main

import "${MODULE}/cmd"

func main() { cmd.Execute() }
`;

/**
 * Ory Hydra, built in a minute from its Go module: `npm run peers -- --hydra`. The versions of everything in it are those
 * of its own go.mod and go.sum, which the checksum database vouches for.
 */
export async function bringHydra(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const file = join(folder, 'bin', PROGRAM);
  if (existsSync(file)) return { program: PROGRAM, state: 'found', detail: file };
  const workshop = join(folder, 'hydra');
  try {
    onProgress(`building ${MODULE}@${VERSION}, which takes minutes`);
    rmSync(workshop, { recursive: true, force: true });
    mkdirSync(workshop, { recursive: true });
    mkdirSync(join(folder, 'bin'), { recursive: true });
    const source = await download(MODULE, VERSION);
    for (const name of ['go.mod', 'go.sum']) {
      copyFileSync(join(source, name), join(workshop, name));
      chmodSync(join(workshop, name), 0o644); // the module cache is read-only
    }
    writeFileSync(join(workshop, 'main.go'), MAIN);
    const changes = ['-module=gatehouse.invalid/hydra', `-dropreplace=${LEFT_OUT}`, `-require=${MODULE}@${VERSION}`];
    await go(['mod', 'edit', '-C', workshop, ...changes]);
    const named = `-X ${MODULE}/driver/config.Version=${VERSION}`;
    const options = ['-mod=mod', '-buildvcs=false', '-trimpath', '-ldflags', named, '-o', file];
    await go(['build', '-C', workshop, ...options, '.']);
    return { program: PROGRAM, state: 'brought', detail: file };
  } catch (error) {
    return { program: PROGRAM, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}
