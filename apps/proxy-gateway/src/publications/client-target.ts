import type { PublicationTarget } from '@gatehouse/contracts';

/** Programs by the name that they send, the more particular ones first: many also name what they are like. */
const CLIENTS: readonly (readonly [RegExp, PublicationTarget])[] = [
  [/quantumult/i, 'quantumult-x'],
  [/\bloon\b/i, 'loon'],
  [/\bsurge\b/i, 'surge'],
  [/shadowrocket|v2rayn|nekobox|nekoray|streisand|happ\//i, 'base64'],
  [/sing-?box|\bsf[aimt]\b|hiddify|karing/i, 'sing-box'],
  [/clash|mihomo|stash|meta\//i, 'clash'],
];

/** The format for a client that names none; most programs read base64 of links. */
export function targetOfClient(userAgent: string | undefined): PublicationTarget {
  const agent = (userAgent ?? '').slice(0, 300);
  return CLIENTS.find(([pattern]) => pattern.test(agent))?.[1] ?? 'base64';
}
