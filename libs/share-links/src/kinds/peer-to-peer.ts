import { decodeText } from '../access-code.js';

/** A link that is found by what the file is, not by where it is. */
export interface ContentLink {
  readonly kind: 'magnet' | 'ed2k';
  readonly id: string;
  readonly url: string;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

function base32ToHex(text: string): string {
  let bits = 0n;
  for (const character of text.toLowerCase()) bits = (bits << 5n) | BigInt(BASE32.indexOf(character));
  return bits.toString(16).padStart(40, '0');
}

/** The v1 hash in hex where there is one, else the v2 multihash of BEP 52. */
function infoHash(query: string): string | undefined {
  let second: string | undefined;
  for (const parameter of query.split('&')) {
    const topic = /^xt(?:\.\d{1,3})?=(.{1,120})$/i.exec(parameter)?.[1];
    const [, scheme, hash = ''] =
      /^urn:(btih|btmh):([0-9a-z]+)$/i.exec(topic === undefined ? '' : decodeText(topic)) ?? [];
    if (scheme === undefined) continue;
    if (scheme.toLowerCase() === 'btmh') second ??= /^1220[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined;
    else if (/^[0-9a-f]{40}$/i.test(hash)) return hash.toLowerCase();
    else if (/^[a-z2-7]{32}$/i.test(hash)) return base32ToHex(hash);
  }
  return second;
}

/** Characters that an address may not carry as they are; `%` stays, for it is an escape already. */
const UNSAFE = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]+/gu;
const escaped = (text: string): string => text.replace(UNSAFE, (run) => encodeURIComponent(run.toWellFormed()));

/** Reads `magnet:?…` up to its end; undefined when it names no torrent. */
export function readMagnet(text: string): ContentLink | undefined {
  const link = /^magnet:\?[^\s<>"`{}\\^]*/i.exec(text)?.[0] ?? '';
  const query = link.slice('magnet:?'.length).replace(/[.,;!?)\]，。；！？）】」]+$/u, '');
  const id = infoHash(query);
  return id === undefined ? undefined : { kind: 'magnet', id, url: `magnet:?${escaped(query)}` };
}

/** Reads `ed2k://|file|name|size|hash|…|/`; undefined when a part is missing. */
export function readEd2k(text: string): ContentLink | undefined {
  const parts = text.replace(/%7c/gi, '|').split('|');
  const [, type = '', name = '', size = '', hash = ''] = parts;
  if (type.toLowerCase() !== 'file' || name.trim() === '') return undefined;
  if (!/^\d{1,16}$/.test(size) || !/^[0-9a-f]{32}$/i.test(hash)) return undefined;
  const more = parts.slice(5).filter((part) => /^(?:h=[a-z2-7]{32}|p=[0-9a-f:]{32,1024}|s=\S{1,512})$/i.test(part));
  const url = ['ed2k://', 'file', escaped(name.trim()), size, hash, ...more, '/'].join('|');
  return { kind: 'ed2k', id: hash.toLowerCase(), url };
}
