import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the variables of services and data planes are declared. */
const DECLARATIONS = [
  'libs/platform/dist/settings/service-settings.js',
  'apps/proxy-gateway/dist/settings.js',
  'apps/resource-sharing/dist/settings.js',
  'apps/tunnel-gateway/dist/settings.js',
];
/** Those that services read by name from elsewhere. */
const ALWAYS = new Set(['NODE_ENV', 'DATABASE_URL', 'GATEHOUSE_SECRET_KEY', 'PORT_RANGE']);
const texts = new Map<string, string>();

/** An older build refuses variables that it does not know: leaves them out. */
export function knownSettings(root: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const declared = texts.get(root) ?? DECLARATIONS.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  texts.set(root, declared);
  const isKnown = (name: string): boolean => ALWAYS.has(name) || declared.includes(`'${name}'`);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isKnown(name)));
}
