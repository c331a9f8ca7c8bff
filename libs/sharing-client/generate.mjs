// node libs/sharing-client/generate.mjs ADDRESS [--check]
// Writes src/schema.ts from the interface description of a running service; --check only compares. The generator needs
// TypeScript 5, which is installed for it in this folder.
import { readFile, writeFile } from 'node:fs/promises';
import { argv, exit, stderr } from 'node:process';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { readDescription } from './description.mjs';

const [address, check] = argv.slice(2);
if (address === undefined) {
  stderr.write('usage: node libs/sharing-client/generate.mjs http://127.0.0.1:8081 [--check]\n');
  exit(2);
}
const target = new URL('src/schema.ts', import.meta.url);
const text = await formatted(astToString(await openapiTS(await readDescription(address))));
if (check !== '--check') await writeFile(target, text);
else if ((await readFile(target, 'utf8')) !== text) {
  stderr.write(`src/schema.ts is not what the description says: node libs/sharing-client/generate.mjs ${address}\n`);
  exit(1);
}

async function formatted(source) {
  const head = `// Made by generate.mjs from the interface description; changes here are lost.
/* eslint-disable max-lines */

`;
  const options = await resolveConfig(target);
  return format(head + source, { ...options, filepath: 'schema.ts' });
}
