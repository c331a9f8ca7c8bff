/**
 * Prints, as JSON, the names that this Node offers behind the globals and built-in modules in the arguments
 * (`{ globals, modules }`): their properties and those of their prototypes.
 */
const { globals, modules } = JSON.parse(process.argv[2] ?? '{}');
const names = new Set();
const seen = new Set();

function walk(value, depth) {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== 'string') continue;
    names.add(key);
    if (depth > 0) walk(Object.getOwnPropertyDescriptor(value, key)?.value, depth - 1);
  }
  walk(Object.getPrototypeOf(value), depth);
}

for (const name of globals) {
  if (!(name in globalThis)) continue;
  names.add(name);
  walk(globalThis[name], 2);
}
// What has no global of its own: iterators and generators.
for (const made of [[].values(), (function* () {})(), (async function* () {})()]) walk(made, 2);
for (const name of modules) walk(await import(name), 2);
process.stdout.write(JSON.stringify([...names]));
