import ssh2 from 'ssh2';

/** Both halves as OpenSSH writes them: `ssh-ed25519 AAAA…` and a text that begins with `-----BEGIN`. */
export interface SshKeys {
  public: string;
  private: string;
}

/**
 * A new Ed25519 key pair. About one in 300 that ssh2 makes is not a valid private key (its parser says "Malformed
 * OpenSSH private key"); such a one is thrown away.
 */
export function makeSshKeys(): SshKeys {
  for (;;) {
    const keys = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(keys.private) instanceof Error)) return keys;
  }
}
