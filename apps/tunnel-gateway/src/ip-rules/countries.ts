import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { HealthRegistry, JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CountryFile } from '../common/country-file.js';
import { OwnedRows } from '../data/owned-rows.js';
import { TunnelGatewaySettings } from '../settings.js';

const COUNTRY_RULES = [{ sql: `row.pattern_kind = 'country'` }];

/** The country database as the edge reads it, for explanations of rules. */
@Injectable()
export class Countries implements OnModuleInit {
  readonly strict: boolean;
  private readonly file: CountryFile;

  constructor(
    { geoFile, geoStrict }: TunnelGatewaySettings,
    logger: JsonLogger,
    private readonly owned: OwnedRows,
    private readonly health: HealthRegistry,
  ) {
    this.strict = geoStrict;
    this.file = new CountryFile(geoFile ?? null, (problem) => logger.warn(problem, 'Countries'));
  }

  onModuleInit(): void {
    this.health.register('countries', () => this.check());
  }

  /** Undefined without a database; null for an unknown address. */
  readonly countryOf = (address: string): string | null | undefined => {
    this.file.load();
    return this.file.countryOf(address);
  };

  /** Whether there is a database; it is read on first use. */
  get areThere(): boolean {
    this.file.load();
    return this.file.isThere;
  }

  /** The effect of country rules without a database; null: there is one. */
  get warning(): string | null {
    if (this.areThere) return null;
    const effect = this.strict
      ? 'a rule that denies a country denies everybody'
      : 'rules about countries match nothing';
    return `no database of countries is loaded (GEOIP_FILE): ${effect}`;
  }

  /** Whether there are country rules, but no database. */
  async areMissing(): Promise<boolean> {
    const { rules } = await this.owned.ipRules(SYSTEM_ACTOR).figures({ rules: 'count(*)' }, COUNTRY_RULES);
    return rules > 0 && !this.areThere;
  }

  private async check(): Promise<void> {
    // Another check reports failures of PostgreSQL.
    if (await this.areMissing().catch(() => false)) throw new Error(this.warning ?? undefined);
  }
}
