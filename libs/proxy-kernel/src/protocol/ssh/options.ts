import { createHash } from 'node:crypto';
import type { OtherNode } from '@gatehouse/contracts';

export interface SshOptions {
  username: string;
  password?: string;
  /** PEM or OpenSSH format. */
  privateKey?: string;
  passphrase?: string;
  /** Whether the server may have this host key. */
  accepts: (key: Buffer) => boolean;
  hostKeyAlgorithms: string[];
}

/** Reads a node's options by their Clash names. */
export function sshOptions({ options }: OtherNode): SshOptions {
  const password = text(options['password']);
  const privateKey = text(options['private-key']);
  const passphrase = text(options['private-key-passphrase']);
  return {
    username: text(options['username']) ?? '',
    ...(password === undefined ? {} : { password }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    accepts: hostKeys(texts(options['host-key']), text(options['fingerprint'])),
    hostKeyAlgorithms: texts(options['host-key-algorithms']),
  };
}

/** Clash also accepts a file name, which means a file on the machine that the subscription was written for. */
export function isFileName(privateKey: unknown): boolean {
  return typeof privateKey === 'string' && privateKey !== '' && !privateKey.includes('PRIVATE KEY');
}

/**
 * `ssh-ed25519 AAAA…` (as in `known_hosts`), `SHA256:…` (as printed by `ssh-keygen -l`), or SHA-256 in hex. None: any
 * key is accepted, as in Clash.
 */
function hostKeys(keys: readonly string[], fingerprint: string | undefined): (key: Buffer) => boolean {
  const known = new Set(keys.map((key) => key.split(/\s+/).find((part) => /^(AAAA|SHA256:)/.test(part)) ?? key));
  if (known.size === 0 && fingerprint === undefined) return () => true;
  return (key) => {
    const digest = createHash('sha256').update(key).digest();
    const printed = `SHA256:${digest.toString('base64').replace(/=+$/, '')}`;
    return known.has(key.toString('base64')) || known.has(printed) || fingerprint === digest.toString('hex');
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === 'string' && item !== '') as string[];
}
