import { slideOver } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import { CountryDatabase } from '../nodes/country-database.js';
import { NodeTester } from '../measuring/node-tester.js';
import type { NodeTarget } from '../measuring/node-tester.js';
import { Preferences } from '../preferences/preferences.service.js';
import { completeExit } from './country-facts.js';
import type { ExitFinding } from './country-facts.js';

/** The lookup service belongs to others and receives this many requests at once. */
const MAX_AT_ONCE = 32;
const PER_ADDRESS = 8;

/** Looks up the exit addresses of nodes by a request through each. */
@Injectable()
export class ExitProbe {
  private readonly logger = new Logger('Countries');

  constructor(
    private readonly tester: NodeTester,
    private readonly countries: CountryDatabase,
    private readonly preferences: Preferences,
  ) {}

  /**
   * Findings by node id; null where there was no answer; an empty map if no service is configured. Calls `onAsked` after
   * each node.
   */
  async ask(
    targets: readonly NodeTarget[],
    signal: AbortSignal,
    onAsked: () => void,
  ): Promise<Map<number, ExitFinding | null>> {
    const found = new Map<number, ExitFinding | null>();
    const url = this.preferences.get('country.exit_url');
    if (url === '') return found;
    const timeoutMs = this.preferences.get('health.timeout_ms');
    const concurrency = Math.min(MAX_AT_ONCE, this.preferences.get('health.concurrency'));
    const work = async (target: NodeTarget): Promise<void> => {
      found.set(target.id, await this.one(target, { url, timeoutMs, signal }));
      onAsked();
    };
    const keyOf = ({ node, via }: NodeTarget): string => (via?.[0] ?? node).server.toLowerCase();
    await slideOver(targets, work, { concurrency, perKey: PER_ADDRESS, keyOf, signal });
    return found;
  }

  private async one(
    target: NodeTarget,
    options: { url: string; timeoutMs: number; signal: AbortSignal },
  ): Promise<ExitFinding | null> {
    try {
      const address = await this.tester.exitAddress(target, options);
      return completeExit(address, this.countries.lookup, this.countries.asn);
    } catch (error) {
      options.signal.throwIfAborted();
      this.logger.debug(`Node ${target.id} gave no exit address: ${String(error)}`);
      return null;
    }
  }
}
