/** Beside the protocol's own name in ALPN, which servers that do not know it pass over. */
const PREFIX = 'gwf/';
const CHARACTERS = 8;

/** What a ClientHello says about a key that the other side has pinned: enough for the server to tell its own keys apart. */
export function pinHint(fingerprint: string): string {
  return `${PREFIX}${fingerprint.slice(0, CHARACTERS)}`;
}

/** Whether the names of a ClientHello say anything of pins. Programs of before do not. */
export function hasPinHints(protocols: readonly string[]): boolean {
  return protocols.some((name) => name.startsWith(PREFIX));
}
