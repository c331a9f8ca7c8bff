import { refuseApiKeys } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { SettingsView } from '@gatehouse/contracts';
import { formatHostPort } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import type { ErrorDetail } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { OpenAccess } from '../auth/open-access.js';
import { refusesPrivateTargets } from '../kernel-config/kernel-options.js';
import { obstacleOf } from '../kernel-config/kernel-workers.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { PREFERENCES, restartNeeded } from '../preferences/preference-definitions.js';
import type { PreferenceKey } from '../preferences/preference-definitions.js';
import { ProxyUserEntity } from '../data/proxy-user.entity.js';
import { PreferenceSnapshot, problemOf } from '../preferences/preference-snapshot.js';
import { Preferences } from '../preferences/preferences.service.js';
import { ProxyGatewaySettings } from '../settings.js';
import { maskSettings } from './mask-settings.js';

const DEFAULTS: SettingsView = new PreferenceSnapshot().texts();

@Injectable()
export class SettingsService {
  /** Masked once after each change of the settings. */
  private readonly maskedTexts = new WeakMap<Readonly<SettingsView>, SettingsView>();

  constructor(
    private readonly preferences: Preferences,
    private readonly access: OpenAccess,
    private readonly environment: ProxyGatewaySettings,
    private readonly kernel: KernelService,
    private readonly dataSource: DataSource,
  ) {}

  /** Every setting. Callers that may only read see no credentials in addresses. */
  read(actor: Actor | null): SettingsView {
    const texts = this.preferences.texts();
    return maySeeSecrets(actor) ? texts : this.masked(texts);
  }

  /** What each setting is until it is changed. */
  defaults(): SettingsView {
    return DEFAULTS;
  }

  /**
   * Stores all of the settings or none.
   * @throws AppError INVALID_ARGUMENT naming each field that is unknown, not a string or invalid; FORBIDDEN for an API
   * key that changes how people log in; UNPROCESSABLE if a kernel cannot listen as wanted.
   */
  async change(body: unknown, actor: Actor): Promise<{ settings: SettingsView; restartNeeded: PreferenceKey[] }> {
    const changes = readChanges(body);
    if (Object.keys(changes).some(isAboutCredentials)) refuseApiKeys(actor);
    const after = new PreferenceSnapshot(
      Object.entries({ ...this.preferences.texts(), ...changes }).map(([key, value]) => ({ key, value })),
    );
    this.refuseOpening(changes, after);
    this.refuseMissingKernel(changes);
    this.refuseMihomoWithPrivateTargets(changes, after);
    this.refuseMihomoWithGroupListeners(changes, after);
    this.refuseWorkers(changes, after);
    if (changes['kernel.users'] !== undefined) await this.refuseTakenNames(after);
    if (Object.keys(changes).some(isAboutListening)) await this.refuseTakenAddress(after);
    const before = this.preferences.texts();
    await this.preferences.write(changes);
    const settings = this.preferences.texts();
    return { settings, restartNeeded: restartNeeded(before, settings) };
  }

  private masked(texts: Readonly<SettingsView>): SettingsView {
    const known = this.maskedTexts.get(texts) ?? maskSettings(texts);
    this.maskedTexts.set(texts, known);
    return known;
  }

  /** Requests would still need credentials, so the setting would contradict the service's behaviour. */
  private refuseOpening(changes: Record<string, string>, after: PreferenceSnapshot): void {
    const reachable = after.get('auth.enabled') ? null : this.access.reachability(after);
    if (reachable === null) return;
    const { by, address } = reachable;
    const meant = 'or set PROXY_GATEWAY_ALLOW_OPEN=true if that is meant';
    if (changes['auth.enabled'] !== undefined) {
      const message = `cannot be "false" while others reach the service or its proxy (${by} is ${address}): use 127.0.0.1 there, ${meant}`;
      throw refusal([{ field: 'auth.enabled', message }]);
    }
    if (changes[by] === undefined) return;
    const message = `cannot let others in while auth.enabled is "false": switch login on first, ${meant}`;
    throw refusal([{ field: by, message }]);
  }

  private refuseMihomoWithPrivateTargets(changes: Record<string, string>, after: PreferenceSnapshot): void {
    const refuses = refusesPrivateTargets(after.get('kernel.allow_private_targets'), this.environment);
    const changed = ['kernel.mode', 'kernel.allow_private_targets'].find((field) => changes[field] !== undefined);
    if (!changed || !refuses || after.get('kernel.mode') !== 'mihomo') return;
    const message = 'mihomo cannot refuse private targets unless a rule names them: use kernel.mode embedded for that';
    throw refusal([{ field: changed, message }]);
  }

  /** With mihomo such a listener would pass by all rules, also those that reject and protect. */
  private refuseMihomoWithGroupListeners(changes: Record<string, string>, after: PreferenceSnapshot): void {
    const changed = ['kernel.mode', 'kernel.listen.groups'].find((field) => changes[field] !== undefined);
    const hasListeners = after.get('kernel.listen.groups').length > 0;
    if (!changed || !hasListeners || after.get('kernel.mode') !== 'mihomo') return;
    const message =
      'mihomo has no listeners of groups that rules could still reject: use kernel.mode embedded for that';
    throw refusal([{ field: changed, message }]);
  }

  private refuseWorkers(changes: Record<string, string>, after: PreferenceSnapshot): void {
    const changed = ['kernel.workers', 'kernel.mode', 'dns.fake_ip'].find((field) => changes[field] !== undefined);
    if (!changed || after.get('kernel.workers') === 1) return;
    const message = obstacleOf(after);
    if (message !== null) throw refusal([{ field: 'kernel.workers', message }]);
  }

  private async refuseTakenNames(after: PreferenceSnapshot): Promise<void> {
    const names = after.get('kernel.users').map(({ username }) => username);
    const taken = await this.dataSource.getRepository(ProxyUserEntity).findOneBy({ name: In(names) });
    if (taken === null) return;
    throw refusal([{ field: 'kernel.users', message: `cannot have ${taken.name}, which is the name of a proxy user` }]);
  }

  /** Nothing is stored: the kernel would go on without this setting, and without all later ones. */
  private async refuseTakenAddress(after: PreferenceSnapshot): Promise<void> {
    const refused = await this.kernel.refusedListener(after);
    if (refused === null) return;
    const { name: field, address, port, reason, kernel } = refused;
    const place = formatHostPort(address, port);
    const message =
      kernel === null
        ? `cannot be ${place}, which ${reason}: choose another port`
        : `cannot be ${place} in kernel ${kernel}, where that ${reason}: choose another port`;
    throw new AppError('UNPROCESSABLE', `${field}: ${message}`, { details: [{ field, message }] });
  }

  private refuseMissingKernel(changes: Record<string, string>): void {
    if (changes['kernel.mode'] !== 'mihomo' || this.environment.mihomo !== '') return;
    const message = 'needs the mihomo program: in PATH, or its path as PROXY_GATEWAY_MIHOMO in the environment';
    throw refusal([{ field: 'kernel.mode', message }]);
  }
}

/** What decides where kernels listen. */
function isAboutListening(key: string): boolean {
  return key.startsWith('kernel.listen.') || key === 'dns.listen' || key === 'kernel.allow_lan';
}

/** Who may log in, for how long, and the users of the proxy: an API key must not change these. */
function isAboutCredentials(key: string): boolean {
  return key.startsWith('auth.') || key === 'kernel.users' || key === 'kernel.require_login';
}

/** @throws AppError INVALID_ARGUMENT. */
function readChanges(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID_ARGUMENT', 'The body must be an object of settings, each a string');
  }
  const entries: [string, unknown][] = Object.entries(body);
  const details = entries.flatMap(([key, value]) => problem(key, value));
  if (details.length > 0) throw refusal(details);
  return Object.fromEntries(entries) as Record<string, string>;
}

function problem(field: string, value: unknown): ErrorDetail[] {
  if (!Object.hasOwn(PREFERENCES, field)) return [{ field: field.slice(0, 200), message: 'is not a setting' }];
  if (typeof value !== 'string') return [{ field, message: 'must be a string' }];
  const found = problemOf(field, value);
  return found === null ? [] : [{ field, message: found.message }];
}

function refusal(details: ErrorDetail[]): AppError {
  const [first] = details;
  const message =
    details.length === 1 && first ? `${first.field}: ${first.message}` : 'Some settings are not acceptable';
  return new AppError('INVALID_ARGUMENT', message, { details });
}
