import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN } from '../../bootstrap/layout.mjs';

/** Where `npm run peers` puts programs and packages. */
export const PEERS = join(OWN, 'peers');

export function peersFolder(): string {
  return process.env['GATEHOUSE_PEERS_BIN'] || join(PEERS, 'bin');
}

/** The Chromium of `npm run peers`. @param port for other programs that control it, too */
export async function startBrowser(port?: number): Promise<Browser> {
  try {
    // Without its sandbox, which containers do not grant: only pages of this platform are opened.
    return await chromium.launch({
      executablePath: join(peersFolder(), 'chromium'),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        ...(port === undefined ? [] : [`--remote-debugging-port=${port}`]),
      ],
    });
  } catch (cause) {
    throw new PlainFailure('Chromium could not be started.', { advice: ['Bring it with: npm run peers'], cause });
  }
}
