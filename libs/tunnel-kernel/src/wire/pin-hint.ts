/** Prefix of a name beside the protocol's own in ALPN; servers that do not know it ignore it. */
const PREFIX = 'gwf/';
const CHARACTERS = 8;

/** A hint in the ClientHello about the pinned key: enough for the server to choose among its own keys. */
export function pinHint(fingerprint: string): string {
  return `${PREFIX}${fingerprint.slice(0, CHARACTERS)}`;
}

/** Whether the ALPN names of a ClientHello contain hints. Older programs send none. */
export function hasPinHints(protocols: readonly string[]): boolean {
  return protocols.some((name) => name.startsWith(PREFIX));
}
