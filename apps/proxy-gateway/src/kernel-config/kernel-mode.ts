import { execFileSync } from 'node:child_process';
import { Injectable, Logger } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { refusesPrivateTargets } from './kernel-options.js';
import { ProxyGatewaySettings } from '../settings.js';

export type KernelProgramName = 'embedded' | 'mihomo';

const VERSION_LIMIT_MS = 10_000;

/** Which program carries the traffic. The setting is read once and holds until the service restarts. */
@Injectable()
export class KernelMode {
  private readonly logger = new Logger('Kernel');
  private chosen: KernelProgramName | null = null;
  private version: string | null = null;

  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  get(): KernelProgramName {
    this.chosen ??= this.choose();
    return this.chosen;
  }

  /** The program to start; empty for the embedded kernel. */
  get executable(): string {
    return this.get() === 'mihomo' ? this.settings.mihomo : '';
  }

  /** The version of mihomo, as it prints it. Only for that mode. */
  get mihomoVersion(): string {
    this.version ??= askVersion(this.executable) ?? 'of unknown version';
    return this.version;
  }

  /** If mihomo cannot run, the embedded kernel does: some traffic is better than none. */
  private choose(): KernelProgramName {
    if (this.preferences.get('kernel.mode') === 'embedded') return 'embedded';
    const obstacle = this.obstacle();
    if (obstacle === null) return 'mihomo';
    this.logger.error(`kernel.mode is mihomo, ${obstacle}: the embedded kernel runs`);
    return 'embedded';
  }

  private obstacle(): string | null {
    if (this.settings.kernel === 'separate') return 'which a separate kernel is not';
    if (this.settings.mihomo === '') return 'but neither PROXY_GATEWAY_MIHOMO nor PATH leads to the program';
    const wanted = this.preferences.get('kernel.allow_private_targets');
    return refusesPrivateTargets(wanted, this.settings) ? 'which cannot refuse private targets as configured' : null;
  }
}

/** `Mihomo Meta v1.19.13 linux amd64 with go1.25.1 …` is the first line of `mihomo -v`. Null for any other program. */
function askVersion(executable: string): string | null {
  try {
    const options = { env: {}, timeout: VERSION_LIMIT_MS, encoding: 'utf8' as const };
    const output = execFileSync(executable, ['-v'], options);
    return /^\s*(?:mihomo|clash) (?:meta )?(\S{1,80})/i.exec(output)?.[1] ?? null;
  } catch {
    // It cannot be started, or does not end.
    return null;
  }
}
