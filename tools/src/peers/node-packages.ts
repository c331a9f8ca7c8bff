import { join } from 'node:path';
import type { PeerResult } from './bring-peers.js';
import { installLocked, isInstalled } from './locked-packages.js';

/** Packages that are used beside the services, and are no dependencies of them. */
export type NodePeer = 'lighthouse' | 'oidc-provider';

/** A package of the npm registry in a folder of its own: `npm run peers -- --oidc-provider`, `-- --lighthouse`. */
export async function bringNodePeer(
  name: NodePeer,
  folder: string,
  onProgress: (text: string) => void,
): Promise<PeerResult> {
  const target = join(folder, name);
  const detail = join(target, 'node_modules', name);
  if (isInstalled(name, target)) return { program: name, state: 'found', detail };
  try {
    onProgress(`bringing ${name} from the npm registry`);
    await installLocked(name, target);
    return { program: name, state: 'brought', detail };
  } catch (error) {
    return { program: name, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}
