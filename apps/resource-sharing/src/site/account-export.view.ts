import { ApiProperty } from '@nestjs/swagger';
import { SiteAccountView } from './site-account.view.js';

/** A list of the export; its rows have the names of the columns. */
function Rows(description: string): PropertyDecorator {
  return ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true }, description });
}

/** Everything that the service has about one user. */
export class AccountExportView {
  @ApiProperty({ type: String, format: 'date-time' })
  exported_at: string;
  @ApiProperty({ type: SiteAccountView })
  account: SiteAccountView;
  @ApiProperty({ type: [String], description: 'Lists of which only the newest 20,000 rows are here' })
  cut: string[];
  @Rows('Open sessions')
  sessions: Record<string, unknown>[];
  @Rows('Networks that the account signed in from')
  sign_in_networks: Record<string, unknown>[];
  @Rows('The security log')
  events: Record<string, unknown>[];
  @Rows('The second factor, without its secret')
  second_factor: Record<string, unknown>[];
  @Rows('API keys, without the keys themselves')
  keys: Record<string, unknown>[];
  @Rows('Own applications, without secrets')
  applications: Record<string, unknown>[];
  @Rows('Webhooks of own applications, without secrets')
  webhooks: Record<string, unknown>[];
  @Rows('Authorizations of applications')
  grants: Record<string, unknown>[];
  @Rows('Own shares')
  shares: Record<string, unknown>[];
  @Rows('Unlocked shares')
  unlocks: Record<string, unknown>[];
  @Rows('Changes of the points')
  points: Record<string, unknown>[];
  @Rows('Titles that the account subscribed to')
  subscriptions: Record<string, unknown>[];
  @Rows('Messages about shares of these titles')
  messages: Record<string, unknown>[];
  @Rows('Daily check-ins')
  check_ins: Record<string, unknown>[];
}
