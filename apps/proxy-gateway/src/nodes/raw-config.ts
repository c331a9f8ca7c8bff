import type { ProxyNode } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import {
  fingerprintNode,
  FormatError,
  formatLink,
  parseRawConfig,
  toClashEntry,
} from '@gatehouse/subscription-formats';
import type { NewNode } from './node-writer.js';

export interface ExpectedNode {
  /** Replaces the name in the definition. */
  name?: string | undefined;
  /** The type that the definition must have; empty for any. */
  type?: string | undefined;
}

/**
 * Reads one node from a share link, `host:port[:user:password]`, or JSON or YAML in the form of a Clash entry.
 * @throws AppError INVALID_ARGUMENT with the reason, never repeating a credential.
 */
export function readRawConfig(text: string, { name, type = '' }: ExpectedNode): NewNode {
  const parsed = parse(type, text);
  const node: ProxyNode = name ? { ...parsed, name } : parsed;
  return { node, fingerprint: fingerprintNode(node) };
}

function parse(type: string, text: string): ProxyNode {
  try {
    return parseRawConfig(type, text);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const field = error.field === 'type' ? 'type' : 'raw_config';
    throw new AppError('INVALID_ARGUMENT', `${field}: ${error.message}`, {
      details: [{ field, message: error.message }],
      cause: error,
    });
  }
}

/** One JSON object in the form of a Clash entry, which `readRawConfig` can read. */
export function writeRawConfig(node: ProxyNode): string {
  return JSON.stringify(toClashEntry(node));
}

/** Null for a type without share links. */
export function shareLink(node: ProxyNode): string | null {
  try {
    return formatLink(node);
  } catch (error) {
    if (error instanceof FormatError && error.code === 'no_link_form') return null;
    throw error;
  }
}
