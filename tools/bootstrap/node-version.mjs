// Old syntax on purpose: this file must still parse on the Node versions that it turns away.
export const OLDEST_LAUNCHER = '20.19.0';

export function isNewEnough(version) {
  const have = version.replace(/^v/, '').split('.').map(Number);
  const want = OLDEST_LAUNCHER.split('.').map(Number);
  for (let i = 0; i < want.length; i++) {
    if (have[i] !== want[i]) return have[i] > want[i];
  }
  return true;
}

/** Ends the process with one line when this Node is too old to launch Gatehouse. */
export function requireLauncherNode() {
  if (isNewEnough(process.version)) return;
  process.stderr.write(
    'gatehouse: Node ' +
      process.version +
      ' is too old; install Node >= ' +
      OLDEST_LAUNCHER +
      ' (https://nodejs.org) and start again.\n',
  );
  process.exit(1);
}
