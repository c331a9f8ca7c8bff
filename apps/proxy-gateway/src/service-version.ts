import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../package.json') as { version: string };

export const SERVICE_NAME = 'proxy-gateway';

/** Version of this program. */
export const SERVICE_VERSION = manifest.version;
