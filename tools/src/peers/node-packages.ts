import { join } from 'node:path';
import type { PeerResult } from './bring-peers.js';
import { installLocked, isInstalled } from './locked-packages.js';

const PACKAGE = 'oidc-provider';

/**
 * node-oidc-provider in a folder of its own: `npm run peers -- --oidc-provider`. It is measured beside the service and is
 * no dependency of it.
 */
export async function bringNodePeer(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const target = join(folder, PACKAGE);
  const detail = join(target, 'node_modules', PACKAGE);
  if (isInstalled(PACKAGE, target)) return { program: PACKAGE, state: 'found', detail };
  try {
    onProgress(`bringing ${PACKAGE} from the npm registry`);
    await installLocked(PACKAGE, target);
    return { program: PACKAGE, state: 'brought', detail };
  } catch (error) {
    return { program: PACKAGE, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}
