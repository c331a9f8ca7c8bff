import type { ProxyNode } from '@gatehouse/contracts';
import { toClashEntry } from './clash/to-entry.js';
import { FormatError } from './errors.js';
import { formatLink } from './links/registry.js';

/**
 * One line that `parseSubscription` and `parseRawConfig` read back to an equal node: its link, or a JSON object if its type
 * has no link.
 */
export function formatNodeLine(node: ProxyNode): string {
  try {
    return formatLink(node);
  } catch (error) {
    if (error instanceof FormatError && error.code === 'no_link_form') return JSON.stringify(toClashEntry(node));
    throw error;
  }
}

/** A Clash document with the nodes as its `proxies:`. JSON is YAML, so values need no other quoting rules. */
export function formatClashDocument(nodes: readonly ProxyNode[]): string {
  if (nodes.length === 0) return 'proxies: []\n';
  return `proxies:\n${nodes.map((node) => `  - ${JSON.stringify(toClashEntry(node))}\n`).join('')}`;
}
