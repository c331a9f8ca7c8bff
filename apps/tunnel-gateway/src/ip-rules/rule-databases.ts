import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { HealthRegistry, JsonLogger } from '@gatehouse/platform';
import type { IpPatternKind, IpRuleOptions } from '@gatehouse/tunnel-kernel';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AddressFiles } from '../common/address-files.js';
import { OwnedRows } from '../data/owned-rows.js';
import { TunnelGatewaySettings } from '../settings.js';
import { RuleLists } from './rule-lists.js';

/** Kinds of patterns that need a database. */
export const LOOKED_UP_KINDS = ['country', 'asn'] as const satisfies IpPatternKind[];
export type LookedUpKind = (typeof LOOKED_UP_KINDS)[number];

/** How a kind's database is named in health checks. */
const CHECKS: Readonly<Record<LookedUpKind, string>> = { country: 'countries', asn: 'autonomous_systems' };

/** The databases and lists of addresses as the edge reads them, for explanations of rules. */
@Injectable()
export class RuleDatabases implements OnModuleInit {
  /** Each is read on first use, and again when its file changes. */
  readonly options: Readonly<IpRuleOptions>;
  private readonly files: AddressFiles;
  private readonly strict: boolean;

  constructor(
    settings: TunnelGatewaySettings,
    logger: JsonLogger,
    private readonly owned: OwnedRows,
    private readonly health: HealthRegistry,
    readonly lists: RuleLists,
  ) {
    const { geoFile, asnFile, geoStrict } = settings;
    const files = new AddressFiles({ geoFile: geoFile ?? null, asnFile: asnFile ?? null }, (problem) =>
      logger.warn(problem, 'RuleDatabases'),
    );
    this.files = files;
    this.strict = geoStrict;
    this.options = {
      countryOf: (address) => {
        files.countries.load();
        return files.countries.lookup(address);
      },
      ...(asnFile !== undefined && {
        asnOf: (address) => {
          files.systems.load();
          return files.systems.lookup(address);
        },
      }),
      inList: lists.lookup,
      geoStrict,
    };
  }

  onModuleInit(): void {
    for (const kind of LOOKED_UP_KINDS) this.health.register(CHECKS[kind], () => this.check(kind));
  }

  /** What a rule does without its database; null: it is there, or none is needed. */
  warningFor(kind: IpPatternKind): string | null {
    if (kind === 'country' && !this.isThere(kind)) {
      const effect = this.strict
        ? 'a rule that denies a country denies everybody'
        : 'rules about countries match nothing';
      return `no database of countries is loaded (GEOIP_FILE): ${effect}`;
    }
    if (kind === 'asn' && !this.isThere(kind)) {
      const effect = this.strict
        ? 'a rule that denies an autonomous system denies everybody'
        : 'rules about autonomous systems match nothing';
      return `no database of autonomous systems is loaded (GEOIP_ASN_FILE): ${effect}`;
    }
    return null;
  }

  /** Whether there are rules of the kind, but no database. */
  async isMissing(kind: LookedUpKind): Promise<boolean> {
    const ofKind = [{ sql: `row.pattern_kind = '${kind}'` }];
    const { rules } = await this.owned.ipRules(SYSTEM_ACTOR).figures({ rules: 'count(*)' }, ofKind);
    return rules > 0 && !this.isThere(kind);
  }

  private isThere(kind: LookedUpKind): boolean {
    const file = kind === 'country' ? this.files.countries : this.files.systems;
    file.load();
    return file.isThere;
  }

  private async check(kind: LookedUpKind): Promise<void> {
    // Another check reports failures of PostgreSQL.
    if (await this.isMissing(kind).catch(() => false)) throw new Error(this.warningFor(kind) ?? undefined);
  }
}
