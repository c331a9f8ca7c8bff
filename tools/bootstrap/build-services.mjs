import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { OWN, ROOT, projectFolders } from './layout.mjs';
import { localized } from './language.mjs';
import { lastLines, runLogged } from './run-logged.mjs';
import { SERVICE_PROGRAMS } from './service-programs.mjs';

const STAMP = join(OWN, 'services-stamp');
const BUNDLER = 'tools/bootstrap/bundle-services.mjs';
const BUNDLER_PARTS = ['one-copy-each', 'one-database', 'required-http', 'service-programs'].map(
  (name) => `tools/bootstrap/${name}.mjs`,
);

/** A value that changes with what the compiler made, with the packages, with what makes the bundles, and with the bundles. */
function fingerprint(root) {
  const compiled = projectFolders(root).map((folder) => `${folder}/dist/.tsbuildinfo`);
  const files = [...compiled, BUNDLER, ...BUNDLER_PARTS, 'package-lock.json'];
  return fingerprintOf({
    files: files.map((name) => join(root, name)),
    folders: Object.keys(SERVICE_PROGRAMS).map((service) => join(root, 'apps', service, 'bundle')),
  });
}

/** Whether the programs of the services are there, and made of what is compiled now. */
export function areServicesBundled(root = ROOT) {
  try {
    return readFileSync(STAMP, 'utf8') === fingerprint(root);
  } catch {
    return false; // never bundled here
  }
}

/** Bundles the programs of the services where something compiled has changed. */
export async function bundleServices(runtime, root = ROOT) {
  if (areServicesBundled(root)) return;
  const logFile = join(OWN, 'logs', 'build-services.log');
  const code = await runLogged(runtime, [join(root, BUNDLER)], { cwd: root, env: process.env, logFile });
  if (code !== 0) {
    throw new PlainFailure(localized('the services could not be bundled:', '服务打包失败：'), {
      advice: [...lastLines(logFile, 20), localized(`Full output: ${logFile}`, `完整输出：${logFile}`)],
    });
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(STAMP, fingerprint(root));
}
