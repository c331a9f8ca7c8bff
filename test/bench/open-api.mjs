// The open API: what paid unlocks cost at the database and over HTTP
// npm run bench -- open-api [unlocks ...] [--seconds=10]
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadLine } from './table.mjs';

// Every script of the folder `open-api` of the name `*.bench.mjs` is a part: its run() prints a table and resolves to how many figures miss their target.
const folder = fileURLToPath(new URL('./open-api/', import.meta.url));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const seconds = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 10);
let failures = 0;
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.bench.mjs')) continue;
  const part = file.slice(0, -'.bench.mjs'.length);
  if (wanted.length > 0 && !wanted.includes(part)) continue;
  const { run } = await import(new URL(`./open-api/${file}`, import.meta.url).href);
  failures += await run({ seconds });
  console.log(loadLine());
}
if (failures > 0) console.log(`${failures} figures miss their target`);
process.exit(failures > 0 ? 1 : 0);
