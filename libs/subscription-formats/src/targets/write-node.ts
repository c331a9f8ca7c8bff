import type { ProxyNode, PublicationTarget } from '@gatehouse/contracts';
import { parseQuantumultXLine } from '../client-lines/quantumult-x-line.js';
import { parseSurgeLine } from '../client-lines/surge-line.js';
import { fromSingBox } from '../documents/sing-box.js';
import { FormatError } from '../errors.js';
import { formatLink, parseLink } from '../links/registry.js';
import { readClashNode, writeClashNode } from './clash-node.js';
import { lostOptions } from './compare-nodes.js';
import { writeLoonNode } from './loon-node.js';
import { writeQuantumultXNode } from './quantumult-x-node.js';
import { writeSingBoxNode } from './sing-box-node.js';
import { writeSurgeNode } from './surge-node.js';
import { Unsayable } from './target.js';

/** A node in the words of a target. */
export interface WrittenNode {
  /** One line, or an object of a JSON list. */
  entry: string | Record<string, unknown>;
  /** Options that the target does not have. Without them the client still reaches the same server, as protected as before. */
  lost: string[];
}

interface Codec<T extends WrittenNode['entry']> {
  write: (node: ProxyNode) => T;
  /** The reader of subscriptions. */
  read: (entry: T) => ProxyNode;
}

const codec =
  <T extends WrittenNode['entry']>({ write, read }: Codec<T>) =>
  (node: ProxyNode): WrittenNode => {
    const entry = write(node);
    return { entry, lost: lostOptions(node, read(entry)) };
  };
const links = codec({ write: formatLink, read: parseLink });

const WRITERS: Readonly<Record<PublicationTarget, (node: ProxyNode) => WrittenNode>> = {
  clash: codec({ write: writeClashNode, read: readClashNode }),
  'sing-box': codec<Record<string, unknown>>({ write: writeSingBoxNode, read: fromSingBox }),
  surge: codec({ write: writeSurgeNode, read: parseSurgeLine }),
  loon: codec({ write: writeLoonNode, read: parseSurgeLine }),
  'quantumult-x': codec({ write: writeQuantumultXNode, read: parseQuantumultXLine }),
  base64: links,
  links,
};

/**
 * Writes a node for a target and reads it back, so that nothing is published as another node.
 * @throws Unsayable with what the target cannot express.
 */
export function writeNode(target: PublicationTarget, node: ProxyNode): WrittenNode {
  try {
    return WRITERS[target](node);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    if (error.code === 'no_link_form') throw new Unsayable(node.type, 'node_type');
    throw new Unsayable(error.field ?? node.type);
  }
}
