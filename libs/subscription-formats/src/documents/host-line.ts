import type { HttpNode } from '@gatehouse/contracts';
import { readName, readPort, readServer } from '../fields.js';
import { checkStorable } from '../fields.js';
import { FormatError } from '../errors.js';

const HOST_LINE = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*):(\d{1,5})(?::([^:\s]*)(?::(\S*))?)?$/;
const USER_FIRST = /^([^:@\s]+):(\S*)@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*):(\d{1,5})$/;

export function looksLikeHostLine(line: string): boolean {
  return HOST_LINE.test(line) || USER_FIRST.test(line);
}

/** `host:port`, `host:port:user:password` or `user:password@host:port`: an HTTP proxy, as in plain lists of proxies. */
export function parseHostLine(line: string): HttpNode {
  const plain = HOST_LINE.exec(line);
  const node = plain === null ? fromUserFirst(line) : build(plain[1], plain[2], plain[3], plain[4]);
  checkStorable(node);
  return node;
}

function fromUserFirst(line: string): HttpNode {
  const found = USER_FIRST.exec(line);
  if (found === null) throw new FormatError('unrecognised_line', 'the line is not host:port[:user:password]');
  return build(found[3], found[4], found[1], found[2]);
}

function build(host = '', portText = '', username = '', password = ''): HttpNode {
  const server = readServer(host);
  const port = readPort(portText);
  const node: HttpNode = { type: 'http', name: readName(undefined, server, port), server, port };
  if (username !== '') node.username = username;
  if (password !== '') node.password = password;
  return node;
}
