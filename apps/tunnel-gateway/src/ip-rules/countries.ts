import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { HealthRegistry, JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CountryFile } from '../common/country-file.js';
import { OwnedRows } from '../data/owned-rows.js';
import { TunnelGatewaySettings } from '../settings.js';

const COUNTRY_RULES = [{ sql: `row.pattern_kind = 'country'` }];

/** The database of countries as the edge reads it, for questions about rules. */
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

  /** Undefined while there is no database; null for an address that it does not know. */
  readonly countryOf = (address: string): string | null | undefined => {
    this.file.load();
    return this.file.countryOf(address);
  };

  /** Whether there is a database; it is read when somebody asks for the first time. */
  get areThere(): boolean {
    this.file.load();
    return this.file.isThere;
  }

  /** What a rule about a country does while there is no database; null: there is one. */
  get warning(): string | null {
    if (this.areThere) return null;
    const effect = this.strict
      ? 'a rule that denies a country denies everybody'
      : 'rules about countries match nothing';
    return `no database of countries is loaded (GEOIP_FILE): ${effect}`;
  }

  /** Whether there are rules about countries, and nothing that knows countries. */
  async areMissing(): Promise<boolean> {
    const { rules } = await this.owned.ipRules(SYSTEM_ACTOR).figures({ rules: 'count(*)' }, COUNTRY_RULES);
    return rules > 0 && !this.areThere;
  }

  private async check(): Promise<void> {
    // That the PostgreSQL database is away is for another check to say.
    if (await this.areMissing().catch(() => false)) throw new Error(this.warning ?? undefined);
  }
}
