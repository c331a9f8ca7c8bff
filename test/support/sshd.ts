import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeSshKeys } from '@gatehouse/testing';
import type { Programs } from './processes.js';

export interface RunningSshd {
  port: number;
  username: string;
  /** OpenSSH text of a key that the server takes. */
  privateKey: string;
  /** `ssh-ed25519 AAAA…` of the server. */
  hostKey: string;
}

/** An account without a password: as root, sshd wants a system account of its own, which the tests must not make. */
const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534 };

/** Why sshd cannot be run here, or null: as root it runs as `nobody`, who must be able to reach the program. */
export function sshdObstacle(binary: string): string | null {
  if (process.getuid?.() !== 0) return null;
  for (let folder = path.dirname(realpathSync(binary)); ; folder = path.dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return `sshd runs as ${NOBODY.name}, who may not enter ${folder}`;
    if (folder === path.dirname(folder)) return null;
  }
}

/** Starts OpenSSH's sshd for one user, who signs in with a key. */
export async function startSshd(programs: Programs, binary: string): Promise<RunningSshd> {
  const asNobody = process.getuid?.() === 0;
  const account = asNobody ? NOBODY : { name: os.userInfo().username, uid: os.userInfo().uid, gid: os.userInfo().gid };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-sshd-'));
  const keys = { host: makeSshKeys(), user: makeSshKeys() };
  const file = (name: string, content: string): string => {
    const full = path.join(folder, name);
    writeFileSync(full, content, { mode: 0o600 });
    chownSync(full, account.uid, account.gid);
    return full;
  };
  const hostKeyFile = file('host_key', keys.host.private);
  const authorized = file('authorized_keys', `${keys.user.public}\n`);
  chownSync(folder, account.uid, account.gid);
  chmodSync(folder, 0o700);
  const port = await programs.start(
    binary,
    (candidate) => {
      const lines = [
        `ListenAddress 127.0.0.1:${candidate}`,
        `HostKey ${hostKeyFile}`,
        `AuthorizedKeysFile ${authorized}`,
        'PidFile none',
        'StrictModes no',
        // Else an account without a password counts as locked.
        'UsePAM yes',
        'MaxStartups 100',
        'AllowTcpForwarding yes',
      ];
      const config = file('sshd_config', `${lines.join('\n')}\n`);
      return ['-D', '-e', '-r', '-f', config];
    },
    asNobody ? { uid: NOBODY.uid, gid: NOBODY.gid } : {},
  );
  rmSync(hostKeyFile);
  return { port, username: account.name, privateKey: keys.user.private, hostKey: keys.host.public };
}
