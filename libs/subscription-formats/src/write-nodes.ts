import type { ProxyNode } from '@gatehouse/contracts';
import { toClashEntry } from './clash/to-entry.js';
import { FormatError } from './errors.js';
import { formatLink } from './links/registry.js';

/** One line that `parseSubscription` and `parseRawConfig` read back to an equal node: its link, or where its type has none, one JSON object. */
export function formatNodeLine(node: ProxyNode): string {
  try {
    return formatLink(node);
  } catch (error) {
    if (error instanceof FormatError && error.code === 'no_link_form') return JSON.stringify(toClashEntry(node));
    throw error;
  }
}

/** A Clash document with the nodes as its `proxies:`. JSON is YAML, so that no value needs quoting rules of its own. */
export function formatClashDocument(nodes: readonly ProxyNode[]): string {
  if (nodes.length === 0) return 'proxies: []\n';
  return `proxies:\n${nodes.map((node) => `  - ${JSON.stringify(toClashEntry(node))}\n`).join('')}`;
}
