import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { contractSchemas, describedServices } from './contract-schemas.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Rewrites every service's file of schemas. */
export async function schemasCommand(): Promise<number> {
  for (const { name, file } of describedServices(ROOT)) {
    writeFileSync(file, await contractSchemas(ROOT, name));
    process.stdout.write(`wrote ${path.relative(ROOT, file)}\n`);
  }
  return 0;
}
