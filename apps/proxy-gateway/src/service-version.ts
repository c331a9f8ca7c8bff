import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../package.json') as { version: string };

/** Version of this program; the embedded kernel is part of it. */
export const SERVICE_VERSION = manifest.version;

export const SERVICE_NAME = 'proxy-gateway';
