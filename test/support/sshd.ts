import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';
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

/** Starts OpenSSH's sshd for one user, who signs in with a key. */
export async function startSshd(programs: Programs, binary: string): Promise<RunningSshd> {
  const asNobody = process.getuid?.() === 0;
  const account = asNobody ? NOBODY : { name: os.userInfo().username, uid: os.userInfo().uid, gid: os.userInfo().gid };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-sshd-'));
  const keys = { host: ssh2.utils.generateKeyPairSync('ed25519'), user: ssh2.utils.generateKeyPairSync('ed25519') };
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
