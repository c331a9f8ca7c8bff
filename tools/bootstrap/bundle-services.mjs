import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { ROOT } from './layout.mjs';
import { oneCopyEach } from './one-copy-each.mjs';
import { oneDatabase } from './one-database.mjs';
import { requiredHttp } from './required-http.mjs';
import { SERVICE_PROGRAMS } from './service-programs.mjs';

/** Stands for the address of a module until its chunk has a name. */
const PLACEHOLDER = /__module_address__\("([^"]+)"\)/g;

/**
 * Loaded from node_modules as before: class-transformer, because we read its storage by path, and ssh2, which looks for native
 * code beside itself.
 */
const EXTERNAL = [/^class-transformer$/, /^ssh2$/];

/** express and what it loads each have their own, and each copy would sort its thousand types when it is loaded. */
const SEVERAL_COPIES = ['mime-db', 'mime-types'];

/** A path from a folder to a file as in a URL, such as `../../libs/net/dist/a.js`. */
function urlPath(folder, file) {
  return relative(folder, file).replaceAll('\\', '/');
}

/**
 * Modules find their files by their own address. In a bundle, a service's module has the address that it would have if
 * `bundle/` had the folders of `dist/`: `../data/sql/` is the same folder, and `../edge/edge-main.js` is a bundled program.
 */
function moduleAddresses(root, app) {
  const own = join(root, 'apps', app, 'dist');
  const bundle = join(root, 'apps', app, 'bundle');
  return {
    name: 'module-addresses',
    transform(code, id) {
      if (id.startsWith('\0')) return null; // the bundler's own
      const isCommonJs = /\b__(?:dir|file)name\b/.test(code) && !/^(?:import|export)\b/m.test(code);
      if (!isCommonJs && !code.includes('import.meta.url')) return null;
      const inBundle = id.startsWith(`${own}/`) ? join(bundle, relative(own, id)) : id;
      const address = `__module_address__("${urlPath(root, inBundle)}")`;
      const head = isCommonJs ? commonJsNames(address) : '';
      // Lines stay where they are: the map is as good as before.
      return { code: head + code.replaceAll('import.meta.url', address), map: null };
    },
  };
}

/** What Node gives every CommonJS module. */
function commonJsNames(address) {
  return `var __filename = require("node:url").fileURLToPath(${address}), __dirname = require("node:path").dirname(__filename);`;
}

/** The compiler's source maps, so that those of a bundle lead to TypeScript. Packages have none. */
function compilerMaps(root) {
  const packages = join(root, 'node_modules');
  return {
    name: 'compiler-maps',
    load(id) {
      if (id.startsWith(packages) || !id.endsWith('.js') || !id.includes('/dist/')) return null;
      try {
        return { code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') };
      } catch {
        return null; // not a file of the compiler
      }
    },
  };
}

/** Other databases, transports and peers that our packages could use are not installed. */
function ignoreMissing(level, log, handle) {
  if (log.code !== 'UNRESOLVED_IMPORT') handle(level, log);
}

/**
 * Programs with all that they load: none loads what only another one needs.
 *
 * @param chunks begins the names of the files that several programs share or that are loaded on demand
 * @param treeshake the bundler's option
 */
async function bundlePrograms(root, app, programs, { chunks, treeshake = true }) {
  const folder = join(root, 'apps', app);
  const build = await rolldown({
    input: Object.fromEntries(programs.map((program) => [program, join(folder, 'dist', `${program}.js`)])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [
      oneDatabase(),
      oneCopyEach(SEVERAL_COPIES),
      compilerMaps(root),
      moduleAddresses(root, app),
      requiredHttp(),
    ],
    onLog: ignoreMissing,
    treeshake,
  });
  const { output } = await build.generate({
    dir: join(folder, 'bundle'),
    format: 'esm',
    // Names of classes are names of tokens, tables and schemas.
    keepNames: true,
    sourcemap: true,
    // V8 keeps the text of a program in memory, with two bytes for each character of a file in which one is not ASCII.
    // Licences stay beside the packages: a bundle runs where it was made.
    charset: 'ascii',
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: `${chunks}-[hash].js`,
  });
  await build.close();
  return output.map((file) => withAddresses(root, app, file));
}

function withAddresses(root, app, file) {
  if (file.type !== 'chunk') return { name: file.fileName, text: file.source };
  const folder = dirname(join(root, 'apps', app, 'bundle', file.fileName));
  const text = file.code.replaceAll(
    PLACEHOLDER,
    (_, path) => `new URL("${urlPath(folder, join(root, path))}", import.meta.url).href`,
  );
  return { name: file.fileName, text };
}

function isSame(file, text) {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false; // not there yet
  }
}

const DAY_MS = 24 * 60 * 60_000;

/** A running service may load a file of an earlier build on demand: it stays for a day. */
function isOld(file) {
  return Date.now() - statSync(file).mtimeMs > DAY_MS;
}

/** Leaves equal files alone: a running edge is replaced when its program is newer. */
function writeFiles(folder, files) {
  for (const { name, text } of files) {
    const file = join(folder, name);
    if (isSame(file, text)) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const names = new Set(files.map(({ name }) => name));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !names.has(urlPath(folder, file)) && isOld(file)) rmSync(file);
  }
}

/**
 * What reads a service's settings, which `npm start` asks before it starts anything. Modules that it only imports for their
 * neighbours, such as all of Nest, are left out: they would take most of a second to load.
 */
const WITHOUT_UNUSED = { moduleSideEffects: (id) => id.includes('reflect-metadata') };

/** Makes the programs of each service from its compiled files and those of the packages that it loads. */
for (const [app, { alone, together }] of Object.entries(SERVICE_PROGRAMS)) {
  const files = await bundlePrograms(ROOT, app, together, { chunks: 'main' });
  for (const program of alone) files.push(...(await bundlePrograms(ROOT, app, [program], { chunks: program })));
  const settings = { chunks: 'settings', treeshake: WITHOUT_UNUSED };
  files.push(...(await bundlePrograms(ROOT, app, ['settings'], settings)));
  writeFiles(join(ROOT, 'apps', app, 'bundle'), files);
}
