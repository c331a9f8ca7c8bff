import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';

/**
 * The file of a program of a service, such as `migrate`: the bundle, which starts in less than half of the time, or what the
 * compiler made where there are no bundles, as in a container image.
 */
export function serviceProgram(service: string, program: string, root = ROOT): string {
  const bundled = join(root, 'apps', service, 'bundle', `${program}.js`);
  return existsSync(bundled) ? bundled : join(root, 'apps', service, 'dist', `${program}.js`);
}
