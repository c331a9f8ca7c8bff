import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatHostPort } from '@gatehouse/net';
import { Complaint } from './command-line.js';

/** Something to publish. */
export type Wanted =
  | { kind: 'http'; scheme: 'http' | 'https' | 'h2c'; target: string; name: string | undefined }
  /** `count`: ports in a row, of the target and of the gateway. */
  | { kind: 'tcp'; target: string; port: number; count: number }
  | { kind: 'share'; folder: string; port: number };

export const KINDS = ['http', 'tcp', 'share'] as const;
export type Kind = (typeof KINDS)[number];

export interface WantedTexts {
  kind: Kind;
  /** A port, a target or a folder. */
  what: string;
  name?: string | undefined;
  port?: string | undefined;
}

const TARGET = /^(?:(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]*)):)?(\d{1,5})\/?$/i;
const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/i;

/** @throws Complaint */
export function readWanted({ kind, what, name, port }: WantedTexts): Wanted {
  if (name !== undefined && kind !== 'http') throw new Complaint((words) => words.text('usage.nameForHttp', { kind }));
  if (port !== undefined && kind === 'http') throw new Complaint((words) => words.text('usage.portForTcp'));
  if (name !== undefined && !NAME.test(name)) {
    throw new Complaint((words) => words.text('usage.publishName', { text: name }));
  }
  if (kind === 'share') return { kind, folder: readFolder(what), port: readPort(port) };
  if (kind === 'tcp') return { kind, ...readTargets(what), port: readPort(port) };
  const [, scheme = 'http', rest = what] = /^(https?|h2c):\/\/(.*)$/i.exec(what) ?? [];
  return { kind, scheme: scheme.toLowerCase() as 'http' | 'https' | 'h2c', target: readTarget(rest), name };
}

/** `3000`, `:3000`, `localhost:3000`, `[::1]:3000`. */
function readTarget(text: string): string {
  const [, bracketed, plain, port] = TARGET.exec(text) ?? [];
  if (Number(port) >= 1 && Number(port) <= 65_535) {
    return formatHostPort(bracketed ?? (plain ? plain : '127.0.0.1'), Number(port));
  }
  throw new Complaint((words) => words.text('usage.publishTarget', { text }));
}

/** The same, or several ports in a row: `6000-6010`. */
function readTargets(text: string): { target: string; count: number } {
  const [, start = text, last] = /^(.*\d)-(\d{1,5})$/.exec(text) ?? [];
  const target = readTarget(start);
  if (last === undefined) return { target, count: 1 };
  const count = Number(last) - Number(/\d+$/.exec(target)?.[0]) + 1;
  if (count >= 2 && Number(last) <= 65_535) return { target: `${target}-${last}`, count };
  throw new Complaint((words) => words.text('usage.publishTarget', { text }));
}

/** 0: any. */
function readPort(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text);
  throw new Complaint((words) => words.text('usage.publishPort', { text }));
}

function readFolder(text: string): string {
  const folder = resolve(text);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new Complaint((words) => words.text('usage.publishFolder', { text: folder }));
}
