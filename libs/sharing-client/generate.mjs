// node libs/sharing-client/generate.mjs ADDRESS [--check]
// Writes src/schema.ts from the interface description of a running service; --check only compares. The generator needs
// TypeScript 5, which is installed for it in this folder.
import { readFile, writeFile } from 'node:fs/promises';
import { argv, exit, stderr } from 'node:process';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const [address, check] = argv.slice(2);
if (address === undefined) {
  stderr.write('usage: node libs/sharing-client/generate.mjs http://127.0.0.1:8081 [--check]\n');
  exit(2);
}
const target = new URL('src/schema.ts', import.meta.url);
const answer = await fetch(new URL('/api/open/openapi.json', address));
if (!answer.ok) throw new Error(`the description was answered with ${answer.status}`);
const text = await formatted(astToString(await openapiTS(forApplications(await answer.json()))));
if (check !== '--check') await writeFile(target, text);
else if ((await readFile(target, 'utf8')) !== text) {
  stderr.write(`src/schema.ts is not what the description says: node libs/sharing-client/generate.mjs ${address}\n`);
  exit(1);
}

/** Only the open API: sign-in is written by hand, and the rest is for the pages of the site. Examples are of no use in types. */
function forApplications(description) {
  const paths = Object.entries(description.paths).filter(([path]) => path.startsWith('/api/open/'));
  const used = new Set();
  const find = (value) => {
    for (const [, name] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      find(description.components.schemas[name]);
    }
  };
  const { schemas, responses } = description.components;
  find([paths, responses]);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  const text = JSON.stringify({
    ...description,
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(kept), responses },
  });
  return JSON.parse(text, (name, value) => (name === 'examples' || name === 'example' ? undefined : value));
}

async function formatted(source) {
  const head = `// Made by generate.mjs from the interface description; changes here are lost.
/* eslint-disable max-lines */

`;
  const options = await resolveConfig(target);
  return format(head + source, { ...options, filepath: 'schema.ts' });
}
