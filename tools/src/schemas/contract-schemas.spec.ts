import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contractSchemas, describedServices } from './contract-schemas.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

describe('schemas of the contracts', () => {
  it('know the services', () => {
    expect(describedServices(ROOT).map(({ name }) => name)).toContain('proxy-gateway');
  });

  it.each(describedServices(ROOT))('of $name say what the types say', async ({ name, file }) => {
    const schemas = await contractSchemas(ROOT, name);
    // Text against text: a difference is one line of a diff, not two objects of a thousand fields.
    expect(readFileSync(file, 'utf8') === schemas, `${file} is out of date: npm run schemas`).toBe(true);
  });
});
