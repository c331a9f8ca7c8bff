import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'prettier';
import { createGenerator } from 'ts-json-schema-generator';

/** A service whose contracts are described, and the file that holds the description. */
export interface DescribedService {
  readonly name: string;
  readonly file: string;
}

/** Every service that has a folder of contracts. */
export function describedServices(root: string): DescribedService[] {
  return readdirSync(path.join(root, 'libs/contracts/src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(root, 'apps', entry.name)))
    .map(({ name }) => ({ name, file: path.join(root, 'apps', name, 'contract-schemas.json') }));
}

/** JSON Schemas by name, as text, of all types that the contracts of a service export. */
export async function contractSchemas(root: string, service: string): Promise<string> {
  const contracts = path.join(root, 'libs/contracts');
  const { definitions = {} } = createGenerator({
    path: path.join(contracts, 'src', service, '*.ts'),
    tsconfig: path.join(contracts, 'tsconfig.json'),
    type: '*',
    expose: 'export',
    jsDoc: 'extended',
    additionalProperties: false,
    // The compiler of the build has checked them already.
    skipTypeCheck: true,
    encodeRefs: false,
  }).createSchema('*');
  const byName = Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1));
  return format(JSON.stringify(Object.fromEntries(byName)), { parser: 'json', printWidth: 120 });
}
